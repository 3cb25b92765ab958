#include "assay/spec/dtype.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

namespace assay::spec {
namespace {

template <class T>
double load_as(const std::byte* element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return static_cast<double>(value);
}

template <class T>
void store_as(T value, std::byte* element) {
  std::memcpy(element, &value, sizeof value);
}

[[noreturn]] void no_number(DType dtype) {
  throw std::invalid_argument("elements of type " + std::string(to_string(dtype)) +
                              " are not read as numbers here");
}

/// `significand` / 2^shift to the nearest integer, ties to even.
std::uint64_t shift_right_ties_to_even(std::uint64_t significand, int shift) {
  if (shift <= 0) return significand << -shift;
  if (shift > 63) return 0;
  const std::uint64_t kept = significand >> shift;
  const std::uint64_t rest = significand & ((std::uint64_t{1} << shift) - 1);
  const std::uint64_t half = std::uint64_t{1} << (shift - 1);
  const bool up = rest > half || (rest == half && (kept & 1) != 0);
  return kept + (up ? 1 : 0);
}

}  // namespace

std::int64_t size_of(DType dtype) {
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

FloatFormat format_of(DType dtype) {
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

std::uint32_t round_to_bits(double value, FloatFormat format) {
  // Integers only: the same bits at every optimisation level and with every compiler.
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const int fraction_bits = format.significand_bits - 1;
  const std::uint32_t sign = static_cast<std::uint32_t>(bits >> 63) << (format.storage_bits() - 1);
  const std::uint32_t infinity =
      static_cast<std::uint32_t>(format.max_exponent - format.min_exponent + 2) << fraction_bits;
  const int biased = static_cast<int>((bits >> 52) & 0x7ff);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  if (biased == 0x7ff) return sign | infinity | (fraction != 0 ? 1u << (fraction_bits - 1) : 0u);
  if (biased == 0) return sign;  // zero, or below every half smallest subnormal here
  const int exponent = biased - 1023;
  const std::uint64_t significand = fraction | (std::uint64_t{1} << 52);
  const int effective = exponent < format.min_exponent ? format.min_exponent : exponent;
  const std::uint64_t rounded =
      shift_right_ties_to_even(significand, 52 - fraction_bits + (effective - exponent));
  // A carry out of the fraction moves into the exponent by itself.
  const std::uint64_t magnitude =
      (static_cast<std::uint64_t>(effective - format.min_exponent) << fraction_bits) + rounded;
  return sign | (magnitude >= infinity ? infinity : static_cast<std::uint32_t>(magnitude));
}

double from_bits(std::uint32_t bits, FloatFormat format) {
  const int fraction_bits = format.significand_bits - 1;
  const std::uint32_t sign_bit = 1u << (format.storage_bits() - 1);
  const double sign = (bits & sign_bit) != 0 ? -1.0 : 1.0;
  const std::uint32_t magnitude = bits & (sign_bit - 1);
  const auto exponent_field = static_cast<int>(magnitude >> fraction_bits);
  const std::uint32_t fraction = magnitude & ((1u << fraction_bits) - 1);
  if (exponent_field == format.max_exponent - format.min_exponent + 2)
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  // Powers of two are assembled, since most of the time of a small case would go into scaling.
  if (exponent_field == 0) {
    const auto power = static_cast<std::uint64_t>(format.min_exponent - fraction_bits + 1023);
    return sign * fraction * std::bit_cast<double>(power << 52);
  }
  const auto biased = static_cast<std::uint64_t>(exponent_field - 1 + format.min_exponent + 1023);
  return sign * std::bit_cast<double>(biased << 52 | static_cast<std::uint64_t>(fraction)
                                                         << (52 - fraction_bits));
}

double round_to(double value, FloatFormat format) {
  return from_bits(round_to_bits(value, format), format);
}

double load(DType dtype, const std::byte* element) {
  switch (dtype) {
    case DType::fp32:
      return load_as<float>(element);
    case DType::bf16: {
      std::uint16_t bits;
      std::memcpy(&bits, element, sizeof bits);
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
    }
    case DType::fp16: {
      std::uint16_t bits;
      std::memcpy(&bits, element, sizeof bits);
      return from_bits(bits, fp16_format);
    }
    case DType::fp64:
      return load_as<double>(element);
    case DType::int8:
      return load_as<std::int8_t>(element);
    case DType::int16:
      return load_as<std::int16_t>(element);
    case DType::int32:
      return load_as<std::int32_t>(element);
    case DType::int64:
      return load_as<std::int64_t>(element);
    case DType::uint8:
    case DType::boolean:
      return load_as<std::uint8_t>(element);
    case DType::uint16:
      return load_as<std::uint16_t>(element);
    case DType::uint32:
      return load_as<std::uint32_t>(element);
    case DType::uint64:
      return load_as<std::uint64_t>(element);
    default:
      no_number(dtype);
  }
}

void store(DType dtype, double value, std::byte* element) {
  switch (dtype) {
    case DType::fp32:
      return store_as(round_to_bits(value, fp32_format), element);
    case DType::bf16:
      return store_as(static_cast<std::uint16_t>(round_to_bits(value, bf16_format)), element);
    case DType::fp16:
      return store_as(static_cast<std::uint16_t>(round_to_bits(value, fp16_format)), element);
    case DType::fp64:
      return store_as(value, element);
    case DType::int8:
      return store_as(static_cast<std::int8_t>(value), element);
    case DType::int16:
      return store_as(static_cast<std::int16_t>(value), element);
    case DType::int32:
      return store_as(static_cast<std::int32_t>(value), element);
    case DType::int64:
      return store_as(static_cast<std::int64_t>(value), element);
    case DType::uint8:
    case DType::boolean:
      return store_as(static_cast<std::uint8_t>(value), element);
    case DType::uint16:
      return store_as(static_cast<std::uint16_t>(value), element);
    case DType::uint32:
      return store_as(static_cast<std::uint32_t>(value), element);
    case DType::uint64:
      return store_as(static_cast<std::uint64_t>(value), element);
    default:
      no_number(dtype);
  }
}

}  // namespace assay::spec
