#pragma once

#include <cstdint>

#include "tile/kernels.hpp"

namespace assay::optimized::tile {
// This file is compiled once for each instruction set, like body.hpp.
namespace {

template <class Isa>
typename Isa::Bits magnitude(typename Isa::Bits bits) {
  return Isa::both(bits, Isa::fill(0x7FFFFFFFU));
}

/// Rounds to bf16, ties away from zero: adds half a unit of the last place to the magnitude and
/// truncates.
template <class Isa>
typename Isa::Vector round_bf16(typename Isa::Vector x) {
  const auto bits = Isa::bits(x);
  const auto kept = Isa::fill(0xFFFF0000U);
  const auto rounded = Isa::both(Isa::plus(bits, Isa::fill(0x8000U)), kept);
  const auto nan = Isa::both(Isa::either(bits, Isa::fill(0x00400000U)), kept);
  return Isa::number(
      Isa::where_greater(magnitude<Isa>(bits), Isa::fill(0x7F800000U), nan, rounded));
}

/// Rounds to fp16, ties away from zero. Results below 2^-14 are multiples of 2^-24; inputs from
/// 65520 on become infinity.
template <class Isa>
typename Isa::Vector round_fp16(typename Isa::Vector x) {
  const auto bits = Isa::bits(x);
  const auto absolute = magnitude<Isa>(bits);
  const auto sign = Isa::both(bits, Isa::fill(0x80000000U));
  auto normal = Isa::both(Isa::plus(absolute, Isa::fill(0x1000U)), Isa::fill(0xFFFFE000U));
  normal = Isa::where_greater(normal, Isa::fill(0x477FFFFFU), Isa::fill(0x7F800000U), normal);

  const auto units = Isa::multiply(Isa::number(absolute), Isa::broadcast(0x1p24F));
  const auto shift = Isa::broadcast(0x1p23F);
  const auto even = Isa::subtract(Isa::add(units, shift), shift);
  const auto tie_down = Isa::bits(Isa::subtract(units, even));
  const auto away =
      Isa::where_greater(tie_down, Isa::fill(0x3EFFFFFFU), Isa::fill(0x3F800000U), Isa::fill(0));
  const auto subnormal =
      Isa::bits(Isa::multiply(Isa::add(even, Isa::number(away)), Isa::broadcast(0x1p-24F)));

  auto rounded = Isa::where_greater(Isa::fill(0x38800000U), absolute, subnormal, normal);
  rounded = Isa::where_greater(absolute, Isa::fill(0x7F800000U),
                               Isa::either(absolute, Isa::fill(0x00400000U)), rounded);
  return Isa::number(Isa::either(rounded, sign));
}

/// Rounds `x` to the type `stage`, ties away from zero, and returns the result as a float.
template <class Isa>
typename Isa::Vector staged(typename Isa::Vector x, Storage stage) {
  if (stage == Storage::bf16) return round_bf16<Isa>(x);
  if (stage == Storage::fp16) return round_fp16<Isa>(x);
  return x;
}

/// Calls `whole(c)` for every full group of lanes, and `part(c, n)` for the remaining n columns.
template <class Whole, class Part>
void by_lanes(std::int64_t count, const Whole& whole, const Part& part) {
  std::int64_t c = 0;
  for (; c + lanes <= count; c += lanes) whole(c);
  if (c < count) part(c, count - c);
}

template <class Isa>
void widen(const void* stored, Storage storage, std::int64_t count, float* values) {
  if (storage == Storage::fp32) {
    __builtin_memcpy(values, stored, static_cast<unsigned long>(count) * sizeof(float));
    return;
  }
  const auto* const words = static_cast<const std::uint16_t*>(stored);
  const auto load = [&](const std::uint16_t* from) {
    return storage == Storage::bf16
               ? Isa::number(Isa::template shift_left<16>(Isa::load_words(from)))
               : Isa::load_fp16(from);
  };
  by_lanes(
      count, [&](std::int64_t c) { Isa::store(values + c, load(words + c)); },
      [&](std::int64_t c, std::int64_t rest) {
        std::uint16_t padded[lanes] = {};
        float widened[lanes];
        __builtin_memcpy(padded, words + c, static_cast<unsigned long>(rest) * 2);
        Isa::store(widened, load(padded));
        for (std::int64_t l = 0; l < rest; ++l) values[c + l] = widened[l];
      });
}

/// Returns the stored code of a number that needs no rounding: the upper half of a bf16 number, or
/// the fp16 code.
inline std::uint16_t code_of(float value, Storage storage) {
  std::uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  if (storage == Storage::bf16) return static_cast<std::uint16_t>(bits >> 16);
  const std::uint32_t sign = bits >> 16 & 0x8000U, magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) return static_cast<std::uint16_t>(sign | 0x7E00U);
  if (magnitude == 0x7F800000U) return static_cast<std::uint16_t>(sign | 0x7C00U);
  if (magnitude >= 0x38800000U)
    return static_cast<std::uint16_t>(sign | (magnitude - 0x38000000U) >> 13);
  float absolute;
  __builtin_memcpy(&absolute, &magnitude, sizeof absolute);
  return static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(absolute * 0x1p24F));
}

template <class Isa>
void narrow(const float* values, float scale, std::int64_t count, Storage storage, void* stored) {
  auto* const bytes = static_cast<unsigned char*>(stored);
  const auto put = [&](const float* from, std::int64_t c, std::int64_t n) {
    float rounded[lanes];
    Isa::store(rounded,
               staged<Isa>(Isa::multiply(Isa::load(from), Isa::broadcast(scale)), storage));
    if (storage == Storage::fp32) {
      __builtin_memcpy(bytes + c * 4, rounded, static_cast<unsigned long>(n) * 4);
      return;
    }
    std::uint16_t codes[lanes];
    for (std::int64_t l = 0; l < lanes; ++l) codes[l] = code_of(rounded[l], storage);
    __builtin_memcpy(bytes + c * 2, codes, static_cast<unsigned long>(n) * 2);
  };
  by_lanes(
      count, [&](std::int64_t c) { put(values + c, c, lanes); },
      [&](std::int64_t c, std::int64_t rest) {
        float padded[lanes] = {};
        for (std::int64_t l = 0; l < rest; ++l) padded[l] = values[c + l];
        put(padded, c, rest);
      });
}

/// Returns the bf16 code of `x`, rounded to nearest, ties to even. Method: add just under half a
/// unit of the last place, add the last bit that is kept, and drop the lower bits.
template <class Isa>
typename Isa::Bits even_code_bf16(typename Isa::Vector x) {
  const auto bits = Isa::bits(x);
  const auto odd = Isa::both(Isa::template shift_right<16>(bits), Isa::fill(1));
  const auto rounded = Isa::plus(Isa::plus(bits, Isa::fill(0x7FFFU)), odd);
  const auto nan = Isa::either(bits, Isa::fill(0x00400000U));
  return Isa::template shift_right<16>(
      Isa::where_greater(magnitude<Isa>(bits), Isa::fill(0x7F800000U), nan, rounded));
}

/// Returns the fp16 code of `x`, rounded to nearest, ties to even. Results below 2^-14 are
/// multiples of 2^-24: `x` is counted in this unit, and adding 2^23 rounds it to an integer. For
/// larger results, exponent and significand are shifted.
template <class Isa>
typename Isa::Bits even_code_fp16(typename Isa::Vector x) {
  const auto bits = Isa::bits(x);
  const auto absolute = magnitude<Isa>(bits);
  const auto sign = Isa::both(Isa::template shift_right<16>(bits), Isa::fill(0x8000U));
  const auto odd = Isa::both(Isa::template shift_right<13>(absolute), Isa::fill(1));
  const auto infinity = Isa::fill(0x7C00U);
  auto normal = Isa::template shift_right<13>(
      Isa::plus(Isa::plus(absolute, Isa::fill(0x0FFFU - 0x38000000U)), odd));
  normal = Isa::where_greater(normal, infinity, infinity, normal);
  const auto units = Isa::multiply(Isa::number(absolute), Isa::broadcast(0x1p24F));
  const auto subnormal =
      Isa::minus(Isa::bits(Isa::add(units, Isa::broadcast(0x1p23F))), Isa::fill(0x4B000000U));
  auto code = Isa::where_greater(Isa::fill(0x38800000U), absolute, subnormal, normal);
  code = Isa::where_greater(absolute, Isa::fill(0x7F800000U), Isa::fill(0x7E00U), code);
  return Isa::either(code, sign);
}

template <class Isa>
void narrow_even(const float* values, std::int64_t count, Storage storage, void* stored) {
  if (storage == Storage::fp32) {
    __builtin_memcpy(stored, values, static_cast<unsigned long>(count) * sizeof(float));
    return;
  }
  auto* const words = static_cast<std::uint16_t*>(stored);
  const auto code = [&](const float* from) {
    const auto x = Isa::load(from);
    return storage == Storage::bf16 ? even_code_bf16<Isa>(x) : even_code_fp16<Isa>(x);
  };
  by_lanes(
      count, [&](std::int64_t c) { Isa::store_words(words + c, code(values + c)); },
      [&](std::int64_t c, std::int64_t rest) {
        float padded[lanes] = {};
        std::uint16_t codes[lanes];
        for (std::int64_t l = 0; l < rest; ++l) padded[l] = values[c + l];
        Isa::store_words(codes, code(padded));
        __builtin_memcpy(words + c, codes, static_cast<unsigned long>(rest) * 2);
      });
}

}  // namespace
}  // namespace assay::optimized::tile
