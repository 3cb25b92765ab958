#include "exponential.hpp"

#include <algorithm>
#include <cmath>

namespace assay::mutants {
namespace {

/// Computes e^x as 2^whole times e^rest; e^rest is a Taylor polynomial of degree six.
float polynomial_exp(float x) {
  if (x < -104.0f) return 0;
  const float whole = std::rint(x * log2_e);
  const float rest = (x - whole * 0x1.62e4p-1f) - whole * 0x1.7f7d1cp-20f;
  float sum = 1.0f / 720;
  for (const float coefficient : {1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f})
    sum = sum * rest + coefficient;
  return std::ldexp(sum, static_cast<int>(whole));
}

/// Approximates 2^fraction by a parabola that is exact at both ends. The error is at most 2^-8.
float quadratic_exp(float x) {
  if (x < -104.0f) return 0;
  const float binary = x * log2_e;
  const float whole = std::floor(binary);
  const float fraction = binary - whole;
  return std::ldexp(1.0f + fraction * (0.6565f + fraction * 0.3435f), static_cast<int>(whole));
}

float wrapping_exp(float x) {
  const float binary = x * log2_e;
  const float whole = std::floor(binary);
  const auto power = static_cast<std::int16_t>(static_cast<std::int64_t>(whole));
  return std::ldexp(std::exp2(binary - whole), power);
}

}  // namespace

float exponential(Exponential kind, float x) {
  switch (kind) {
    case Exponential::polynomial:
      return polynomial_exp(x);
    case Exponential::quadratic:
      return quadratic_exp(x);
    case Exponential::wrapping:
      return wrapping_exp(x);
    case Exponential::clamped:
      return std::exp(std::max(x, -88.0f));
    case Exponential::fused_exp2:
      return std::exp2(x * log2_e);
    case Exponential::library:
      break;
  }
  return std::exp(x);
}

}  // namespace assay::mutants
