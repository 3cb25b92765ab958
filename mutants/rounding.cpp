#include "rounding.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace assay::mutants {
namespace {

/// Rounds `magnitude` to an integer; exact for magnitudes below 2^52.
double to_integer(double magnitude, spec::Rounding mode) {
  const double below = std::floor(magnitude);
  const double rest = magnitude - below;
  if (mode == spec::Rounding::rtz || rest < 0.5) return below;
  const bool even = static_cast<std::int64_t>(below) % 2 == 0;
  return rest == 0.5 && mode == spec::Rounding::rne && even ? below : below + 1;
}

/// Returns 2^exponent. Supports the exponents of normal doubles.
double power_of_two(int exponent) {
  constexpr int exponent_bias = 1023, fraction_bits = 52;
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + exponent_bias)
                               << fraction_bits);
}

}  // namespace

float rounded(float value, spec::DType type, spec::Rounding mode) {
  if (type == spec::DType::fp32 || value == 0 || !std::isfinite(value)) return value;
  const spec::FloatFormat format = spec::format_of(type);
  const int exponent = std::max(std::ilogb(value), format.min_exponent);
  const int quantum = exponent - format.significand_bits + 1;
  const double magnitude = std::abs(static_cast<double>(value)) * power_of_two(-quantum);
  const double result = to_integer(magnitude, mode) * power_of_two(quantum);
  const double largest =
      (2.0 - power_of_two(1 - format.significand_bits)) * power_of_two(format.max_exponent);
  if (result <= largest) return static_cast<float>(std::copysign(result, value));
  const double beyond =
      mode == spec::Rounding::rtz ? largest : std::numeric_limits<double>::infinity();
  return static_cast<float>(std::copysign(beyond, value));
}

float shortened(float value, int bits) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int quantum = std::ilogb(value) - bits + 1;
  const double magnitude = std::abs(static_cast<double>(value)) * power_of_two(-quantum);
  return static_cast<float>(
      std::copysign(to_integer(magnitude, spec::Rounding::rne) * power_of_two(quantum), value));
}

}  // namespace assay::mutants
