#include "rounding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::mutants {
namespace {

/// `magnitude` to an integer; exact for magnitudes below 2^52.
double to_integer(double magnitude, spec::Rounding mode) {
  const double below = std::floor(magnitude);
  const double rest = magnitude - below;
  if (mode == spec::Rounding::rtz || rest < 0.5) return below;
  const bool even = std::fmod(below, 2.0) == 0.0;
  return rest == 0.5 && mode == spec::Rounding::rne && even ? below : below + 1;
}

}  // namespace

float rounded(float value, spec::DType type, spec::Rounding mode) {
  if (type == spec::DType::fp32 || value == 0 || !std::isfinite(value)) return value;
  const spec::FloatFormat format = spec::format_of(type);
  const int exponent = std::max(std::ilogb(value), format.min_exponent);
  const int quantum = exponent - format.significand_bits + 1;
  const double magnitude = std::ldexp(std::abs(static_cast<double>(value)), -quantum);
  const double result = std::ldexp(to_integer(magnitude, mode), quantum);
  const double largest =
      std::ldexp(2.0 - std::ldexp(1.0, 1 - format.significand_bits), format.max_exponent);
  if (result <= largest) return static_cast<float>(std::copysign(result, value));
  const double beyond =
      mode == spec::Rounding::rtz ? largest : std::numeric_limits<double>::infinity();
  return static_cast<float>(std::copysign(beyond, value));
}

float shortened(float value, int bits) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int quantum = std::ilogb(value) - bits + 1;
  const double magnitude = std::ldexp(std::abs(static_cast<double>(value)), -quantum);
  return static_cast<float>(
      std::copysign(std::ldexp(to_integer(magnitude, spec::Rounding::rne), quantum), value));
}

}  // namespace assay::mutants
