#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "assay/spec/text_enum.hpp"

namespace assay::spec {

/// Element types, named as in the documentation. The operators compute in fp16, bf16 and fp32;
/// masks are uint8 or boolean. The other types exist only so that a call can contain them and a
/// kernel can refuse it.
/// Source: acl_base.h (aclDataType).
enum class DType : std::uint8_t {
  fp16,
  bf16,
  fp32,
  fp64,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  boolean,
  hifloat8,
  float8_e5m2,
  float8_e4m3fn,
};

template <>
inline constexpr auto spellings_of<DType> = Spellings<DType, 16>{{{
    {DType::fp16, "fp16"},
    {DType::bf16, "bf16"},
    {DType::fp32, "fp32"},
    {DType::fp64, "fp64"},
    {DType::int8, "int8"},
    {DType::int16, "int16"},
    {DType::int32, "int32"},
    {DType::int64, "int64"},
    {DType::uint8, "uint8"},
    {DType::uint16, "uint16"},
    {DType::uint32, "uint32"},
    {DType::uint64, "uint64"},
    {DType::boolean, "bool"},
    {DType::hifloat8, "hifloat8"},
    {DType::float8_e5m2, "float8_e5m2"},
    {DType::float8_e4m3fn, "float8_e4m3fn"},
}}};

/// Returns the number of bytes of one element.
constexpr std::int64_t size_of(DType dtype) {
  switch (dtype) {
    case DType::fp64:
    case DType::int64:
    case DType::uint64:
      return 8;
    case DType::fp32:
    case DType::int32:
    case DType::uint32:
      return 4;
    case DType::fp16:
    case DType::bf16:
    case DType::int16:
    case DType::uint16:
      return 2;
    default:
      return 1;
  }
}

constexpr bool is_fp16_bf16_fp32(DType dtype) {
  return dtype == DType::fp16 || dtype == DType::bf16 || dtype == DType::fp32;
}

/// An IEEE 754 binary interchange format, or a format of the same structure.
struct FloatFormat {
  int significand_bits;  ///< with the hidden bit
  int min_exponent;      ///< floor(log2) of the smallest normal
  int max_exponent;      ///< floor(log2) of the largest finite value

  constexpr int storage_bits() const { return significand_bits == 24 ? 32 : 16; }
};

inline constexpr FloatFormat fp16_format = {11, -14, 15};
inline constexpr FloatFormat bf16_format = {8, -126, 127};
inline constexpr FloatFormat fp32_format = {24, -126, 127};

/// Always throws std::invalid_argument, because elements of this type cannot be read as numbers.
[[noreturn]] void no_number(DType dtype);

/// Returns the format of fp16, bf16 or fp32. Errors: std::invalid_argument for every other type.
constexpr FloatFormat format_of(DType dtype) {
  switch (dtype) {
    case DType::fp16:
      return fp16_format;
    case DType::bf16:
      return bf16_format;
    case DType::fp32:
      return fp32_format;
    default:
      no_number(dtype);
  }
}

/// Divides `significand` by 2^shift and rounds to the nearest integer, ties to even.
constexpr std::uint64_t shift_right_ties_to_even(std::uint64_t significand, int shift) {
  if (shift <= 0) return significand << -shift;
  if (shift > 63) return 0;
  const std::uint64_t kept = significand >> shift;
  const std::uint64_t rest = significand & ((std::uint64_t{1} << shift) - 1);
  const std::uint64_t half = std::uint64_t{1} << (shift - 1);
  const bool up = rest > half || (rest == half && (kept & 1) != 0);
  return kept + (up ? 1 : 0);
}

/// Rounds `value` once to `format`, ties to even, and returns the bits. Overflow gives infinity;
/// NaN gives a quiet NaN. Like `from_bits`, this function is in the header so that loops over
/// tensors inline it.
constexpr std::uint32_t round_to_bits(double value, FloatFormat format) {
  // Uses integer arithmetic only, so that the bits are the same with every compiler and at every
  // optimisation level.
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const int fraction_bits = format.significand_bits - 1;
  const std::uint32_t sign = static_cast<std::uint32_t>(bits >> 63) << (format.storage_bits() - 1);
  const std::uint32_t infinity =
      static_cast<std::uint32_t>(format.max_exponent - format.min_exponent + 2) << fraction_bits;
  const int biased = static_cast<int>((bits >> 52) & 0x7ff);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  if (biased == 0x7ff) return sign | infinity | (fraction != 0 ? 1u << (fraction_bits - 1) : 0u);
  if (biased == 0) return sign;  // zero, or too small: less than half of the smallest subnormal
  const int exponent = biased - 1023;
  const std::uint64_t significand = fraction | (std::uint64_t{1} << 52);
  const int effective = exponent < format.min_exponent ? format.min_exponent : exponent;
  const std::uint64_t rounded =
      shift_right_ties_to_even(significand, 52 - fraction_bits + (effective - exponent));
  // If the fraction overflows, the carry increments the exponent, which gives the correct result.
  const std::uint64_t magnitude =
      (static_cast<std::uint64_t>(effective - format.min_exponent) << fraction_bits) + rounded;
  return sign | (magnitude >= infinity ? infinity : static_cast<std::uint32_t>(magnitude));
}

/// Returns the exact value of `bits` in `format`.
constexpr double from_bits(std::uint32_t bits, FloatFormat format) {
  const int fraction_bits = format.significand_bits - 1;
  const std::uint32_t sign_bit = 1u << (format.storage_bits() - 1);
  const double sign = (bits & sign_bit) != 0 ? -1.0 : 1.0;
  const std::uint32_t magnitude = bits & (sign_bit - 1);
  const auto exponent_field = static_cast<int>(magnitude >> fraction_bits);
  const std::uint32_t fraction = magnitude & ((1u << fraction_bits) - 1);
  if (exponent_field == format.max_exponent - format.min_exponent + 2)
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  // Builds the power of two from its bits, because a library function took most of the time of a
  // small test case.
  if (exponent_field == 0) {
    const auto power = static_cast<std::uint64_t>(format.min_exponent - fraction_bits + 1023);
    return sign * fraction * std::bit_cast<double>(power << 52);
  }
  const auto biased = static_cast<std::uint64_t>(exponent_field - 1 + format.min_exponent + 1023);
  return sign * std::bit_cast<double>(biased << 52 | static_cast<std::uint64_t>(fraction)
                                                         << (52 - fraction_bits));
}

/// Rounds `value` once to `format`, ties to even.
double round_to(double value, FloatFormat format);

/// Reads one element as double. This is exact for floating types and for integers up to 2^53.
/// Errors: std::invalid_argument for an 8-bit floating type.
double load(DType dtype, const std::byte* element);

/// Rounds `value` once and stores it: ties to even for floating types, toward zero for integers.
/// Errors: the same as for `load`.
void store(DType dtype, double value, std::byte* element);

}  // namespace assay::spec
