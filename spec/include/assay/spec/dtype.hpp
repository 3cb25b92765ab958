#pragma once

#include <cstddef>
#include <cstdint>

#include "assay/spec/text_enum.hpp"

namespace assay::spec {

/// Element types by the names of the documents. The operators compute in fp16, bf16 and fp32; masks
/// are uint8 or boolean; the others exist so that a call can carry them and be refused.
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

/// Bytes of one element.
std::int64_t size_of(DType dtype);

constexpr bool is_fp16_bf16_fp32(DType dtype) {
  return dtype == DType::fp16 || dtype == DType::bf16 || dtype == DType::fp32;
}

/// An IEEE 754 binary interchange format, or one built like it.
struct FloatFormat {
  int significand_bits;  ///< with the hidden bit
  int min_exponent;      ///< floor(log2) of the smallest normal
  int max_exponent;      ///< floor(log2) of the largest finite value

  constexpr int storage_bits() const { return significand_bits == 24 ? 32 : 16; }
};

inline constexpr FloatFormat fp16_format = {11, -14, 15};
inline constexpr FloatFormat bf16_format = {8, -126, 127};
inline constexpr FloatFormat fp32_format = {24, -126, 127};

/// The format of fp16, bf16 or fp32. Errors: std::invalid_argument for every other type.
FloatFormat format_of(DType dtype);

/// The bits of `value` in `format`, rounded once, ties to even; overflow gives infinity, NaN a
/// quiet NaN.
std::uint32_t round_to_bits(double value, FloatFormat format);

/// The value that `bits` of `format` stand for; exact.
double from_bits(std::uint32_t bits, FloatFormat format);

/// `value` rounded once to `format`, ties to even.
double round_to(double value, FloatFormat format);

/// Reads one element as double. Exact for floating types and for integers up to 2^53.
/// Errors: std::invalid_argument for an 8-bit floating type.
double load(DType dtype, const std::byte* element);

/// Stores `value` rounded once (ties to even; integers truncate). Errors: as `load`.
void store(DType dtype, double value, std::byte* element);

}  // namespace assay::spec
