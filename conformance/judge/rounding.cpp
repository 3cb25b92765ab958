#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "assay/conformance/judge/exact.hpp"

namespace assay::conformance {
namespace {

/// The size of the part of a value that the format cannot store, compared with half a unit in the
/// last place: zero, less, equal or more.
enum class Remainder : std::uint8_t { none, below_half, half, above_half };

/// A magnitude, split into its truncation to the format and the remainder.
struct Truncated {
  std::int64_t bits = 0;  ///< bits of the neighbour toward zero; may be above those of infinity
  Remainder remainder = Remainder::none;
};

Truncated truncate(std::uint64_t magnitude, std::int64_t exponent, spec::FloatFormat format) {
  const int fraction_bits = format.significand_bits - 1;
  const std::int64_t leading = 63 - std::countl_zero(magnitude) + exponent;
  const std::int64_t binade = leading < format.min_exponent ? format.min_exponent : leading;
  const std::int64_t dropped = binade - fraction_bits - exponent;
  std::uint64_t kept = 0;
  Remainder remainder = Remainder::none;
  if (dropped <= 0) {
    kept = magnitude << -dropped;
  } else if (dropped > 64) {
    remainder = Remainder::below_half;
  } else {
    kept = dropped == 64 ? 0 : magnitude >> dropped;
    const std::uint64_t rest =
        dropped == 64 ? magnitude : magnitude & ((std::uint64_t{1} << dropped) - 1);
    const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
    if (rest != 0)
      remainder = rest < half    ? Remainder::below_half
                  : rest == half ? Remainder::half
                                 : Remainder::above_half;
  }
  return {
      .bits = ((binade - format.min_exponent) << fraction_bits) + static_cast<std::int64_t>(kept),
      .remainder = remainder};
}

struct Neighbours {
  std::int64_t first, second;
};

Neighbours rounded(const Truncated& value, spec::Rounding rounding) {
  const std::int64_t down = value.bits, up = value.bits + 1;
  if (value.remainder == Remainder::none) return {down, down};
  switch (rounding) {
    case spec::Rounding::rtz:
      return {down, down};
    case spec::Rounding::stochastic:
    case spec::Rounding::unknown_any:
      return {down, up};
    case spec::Rounding::rne:
    case spec::Rounding::rna:
    case spec::Rounding::unknown:
      break;
  }
  if (value.remainder == Remainder::below_half) return {down, down};
  if (value.remainder == Remainder::above_half) return {up, up};
  if (rounding == spec::Rounding::rna) return {up, up};
  const std::int64_t even = (down & 1) == 0 ? down : up;
  return {even, rounding == spec::Rounding::unknown ? down + up - even : even};
}

struct Beyond {
  spec::Rounding rounding;
  spec::Overflow overflow;
};

/// Returns the possible results of a cast for a value near overflow: its larger neighbour in the
/// format is not finite. `low` is the smaller neighbour.
Neighbours overflowed(std::int64_t low, std::int64_t infinity, Beyond rule) {
  const std::int64_t largest = infinity - 1;
  if (rule.rounding == spec::Rounding::rtz) return {largest, largest};
  const bool may_truncate = rule.rounding == spec::Rounding::unknown_any;
  switch (rule.overflow) {
    case spec::Overflow::saturate:
      return {std::min(low, largest), largest};
    case spec::Overflow::either:
      return {infinity, std::min(low, largest)};
    case spec::Overflow::inf:
      break;
  }
  return {low < infinity ? low : may_truncate ? largest : infinity, infinity};
}

}  // namespace

AcceptableBits acceptable_bits(Dyadic exact, spec::DType dtype, spec::Rounding rounding,
                               spec::Overflow overflow) {
  const spec::FloatFormat format = spec::format_of(dtype);
  if (exact.numerator == 0) return {};
  const bool negative = exact.numerator < 0;
  const auto pattern = static_cast<std::uint64_t>(exact.numerator);
  const Truncated value = truncate(negative ? 0 - pattern : pattern, exact.exponent, format);
  const std::int64_t infinity =
      static_cast<std::int64_t>(format.max_exponent - format.min_exponent + 2)
      << (format.significand_bits - 1);
  const Neighbours finite = rounded(value, rounding);
  const Neighbours result =
      std::max(finite.first, finite.second) < infinity
          ? finite
          : overflowed(std::min(finite.first, finite.second), infinity, {rounding, overflow});
  const std::uint32_t sign = negative ? 1u << (format.storage_bits() - 1) : 0u;
  return {sign | static_cast<std::uint32_t>(result.first),
          sign | static_cast<std::uint32_t>(result.second)};
}

Dyadic dyadic_of(double finite) {
  int exponent = 0;
  const double fraction = std::frexp(finite, &exponent);
  constexpr int bits = std::numeric_limits<double>::digits;
  return {static_cast<std::int64_t>(std::ldexp(fraction, bits)), exponent - bits};
}

std::uint32_t round_dyadic(Dyadic exact, spec::DType dtype, spec::Rounding rounding,
                           spec::Overflow overflow) {
  return acceptable_bits(exact, dtype, rounding, overflow).first;
}

}  // namespace assay::conformance
