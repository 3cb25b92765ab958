#pragma once

#include <cstdint>

#include "tile/asked_rows.hpp"
#include "tile/kernels.hpp"

// Included by one source file per instruction set, which is compiled for that set. Everything is in
// an unnamed namespace and calls nothing inline of the standard library, so that no function
// compiled for one machine can be linked into the path of another.

namespace assay::optimized::tile {
namespace {

/// A block of `rows` x `vectors` * 16 elements of the product at (i, j).
template <class Isa, int rows, int vectors>
void multiply_block(const Product& p, std::int64_t i, std::int64_t j) {
  using Vector = typename Isa::Vector;
  Vector sums[rows][vectors];
  float* const c = p.c + i * p.c_row + j;
  // Sums that go on from tile to tile have left the near caches meanwhile.
  if (p.sum == Sum::add)
    for (int r = 0; r < rows; ++r)
      for (int v = 0; v < vectors; ++v) __builtin_prefetch(c + r * p.c_row + v * lanes, 1);
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v)
      sums[r][v] =
          p.sum == Sum::extend ? Isa::load(c + r * p.c_row + v * lanes) : Isa::broadcast(0);
  const float* a = p.a + i * p.a_row;
  const float* b = p.b + j;
  const std::int64_t a_row = p.a_row, a_depth = p.a_depth, b_row = p.b_row;
  for (std::int64_t k = p.depth; k > 0; --k) {
    Vector right[vectors];
    for (int v = 0; v < vectors; ++v) right[v] = Isa::load(b + v * lanes);
    for (int r = 0; r < rows; ++r) {
      const Vector left = Isa::broadcast(a[r * a_row]);
      for (int v = 0; v < vectors; ++v) sums[r][v] = Isa::fma(left, right[v], sums[r][v]);
    }
    a += a_depth;
    b += b_row;
  }
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v) {
      float* const place = c + r * p.c_row + v * lanes;
      Isa::store(place, p.sum == Sum::add ? Isa::add(Isa::load(place), sums[r][v]) : sums[r][v]);
    }
}

/// Columns [j, j + vectors * 16) of the product.
template <class Isa, int vectors>
void multiply_columns(const Product& p, std::int64_t j) {
  const RowRange rows = asked_rows(p.asked, p.rows, j / lanes, vectors);
  std::int64_t i = rows.first;
  for (; i + Isa::block_rows <= rows.last; i += Isa::block_rows)
    multiply_block<Isa, Isa::block_rows, vectors>(p, i, j);
  for (; i + 4 <= rows.last; i += 4) multiply_block<Isa, 4, vectors>(p, i, j);
  for (; i < rows.last; ++i) multiply_block<Isa, 1, vectors>(p, i, j);
}

template <class Isa>
void multiply(const Product& p) {
  constexpr std::int64_t width = Isa::block_vectors * lanes;
  std::int64_t j = 0;
  for (; j + width <= p.columns; j += width) multiply_columns<Isa, Isa::block_vectors>(p, j);
  for (; j < p.columns; j += lanes) multiply_columns<Isa, 1>(p, j);
}

/// exp(x) = 2^n exp(r), |r| <= ln(2)/2: ln(2) is split in two, the polynomial is minimax for the
/// relative error (2^-28 before rounding), and 2^n is applied in two steps so that underflow is
/// gradual.
template <class Isa>
typename Isa::Vector exponential(typename Isa::Vector x) {
  using Vector = typename Isa::Vector;
  using Bits = typename Isa::Bits;
  const auto constant = [](float value) { return Isa::broadcast(value); };
  // Beyond these ends the result is 0 or infinity; the order of operands lets NaN through.
  x = Isa::min(constant(89.5F), Isa::max(constant(-104.5F), x));
  const Vector shift = constant(0x1.8p23F);  // adding it rounds to an integer, ties to even
  const Vector shifted = Isa::fma(x, constant(0x1.715476p0F), shift);
  const Vector n = Isa::subtract(shift, shifted);
  Vector r = Isa::fma(n, constant(0x1.62e43p-1F), x);
  r = Isa::fma(n, constant(-0x1.05c61p-29F), r);
  Vector p = constant(0x1.6a23dp-10F);
  p = Isa::fma(p, r, constant(0x1.123a2p-7F));
  p = Isa::fma(p, r, constant(0x1.5558f2p-5F));
  p = Isa::fma(p, r, constant(0x1.555492p-3F));
  p = Isa::fma(p, r, constant(0x1.fffffcp-2F));
  p = Isa::fma(p, r, constant(1.0F));
  p = Isa::fma(p, r, constant(1.0F));
  const Bits power = Isa::plus(Isa::bits(shifted), Isa::fill(0U - 0x4B400000U));
  const Bits first = Isa::half(power);
  const Bits second = Isa::minus(power, first);
  const auto two_to = [](Bits k) {
    return Isa::number(Isa::template shift_left<23>(Isa::plus(k, Isa::fill(127))));
  };
  return Isa::multiply(Isa::multiply(p, two_to(first)), two_to(second));
}

template <class Isa>
typename Isa::Bits magnitude(typename Isa::Bits bits) {
  return Isa::both(bits, Isa::fill(0x7FFFFFFFU));
}

/// Half away from zero to bf16: adding half a unit to the magnitude and cutting.
template <class Isa>
typename Isa::Vector round_bf16(typename Isa::Vector x) {
  const auto bits = Isa::bits(x);
  const auto kept = Isa::fill(0xFFFF0000U);
  const auto rounded = Isa::both(Isa::plus(bits, Isa::fill(0x8000U)), kept);
  const auto nan = Isa::both(Isa::either(bits, Isa::fill(0x00400000U)), kept);
  return Isa::number(
      Isa::where_greater(magnitude<Isa>(bits), Isa::fill(0x7F800000U), nan, rounded));
}

/// Half away from zero to fp16; below 2^-14 to a multiple of 2^-24, from 65520 on to infinity.
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

/// `x` rounded half away from zero to `stage`, as a float.
template <class Isa>
typename Isa::Vector staged(typename Isa::Vector x, Storage stage) {
  if (stage == Storage::bf16) return round_bf16<Isa>(x);
  if (stage == Storage::fp16) return round_fp16<Isa>(x);
  return x;
}

/// `x`, and zero where `excluded` is positive.
template <class Isa>
typename Isa::Vector kept(typename Isa::Bits excluded, typename Isa::Vector x) {
  const auto zero = Isa::fill(0);
  return Isa::number(Isa::where_greater(excluded, zero, zero, Isa::bits(x)));
}

template <class Isa>
void add_bias(const AddBias& t) {
  const auto scale = Isa::broadcast(t.scale);
  for (std::int64_t i = 0; i < t.rows; ++i) {
    float* const scores = t.scores + i * t.row_stride;
    const float* const bias = t.bias + i * t.bias_stride;
    for (std::int64_t j = 0; j < t.columns; j += lanes)
      Isa::store(scores + j,
                 Isa::add(Isa::multiply(Isa::load(scores + j), scale), Isa::load(bias + j)));
  }
}

template <class Isa, bool dropout>
void softmax_grad_of(const SoftmaxGrad& t) {
  using Vector = typename Isa::Vector;
  const Vector scale = Isa::broadcast(t.scale);
  [[maybe_unused]] const Vector keep_factor = Isa::broadcast(t.keep_factor);
  for (std::int64_t i = 0; i < t.rows; ++i) {
    const Vector max = Isa::broadcast(t.max[i]);
    const Vector sum = Isa::broadcast(t.sum[i]);
    const Vector row_term = Isa::broadcast(t.row_term[i]);
    for (std::int64_t j = 0; j < t.columns; j += lanes) {
      float* const score = t.scores + i * t.row_stride + j;
      float* const dprob = t.dprob + i * t.row_stride + j;
      const Vector exponent = Isa::subtract(Isa::multiply(Isa::load(score), scale), max);
      Vector prob = Isa::divide(exponential<Isa>(exponent), sum);
      Vector dprob_of_kept = Isa::load(dprob);
      [[maybe_unused]] const auto drop = [&](Vector x) {
        const auto dropped = Isa::load_bytes(t.dropped + i * t.row_stride + j);
        return Isa::multiply(kept<Isa>(dropped, x), keep_factor);
      };
      if constexpr (dropout) dprob_of_kept = drop(dprob_of_kept);
      Vector dscore = Isa::multiply(prob, Isa::subtract(dprob_of_kept, row_term));
      if constexpr (dropout) prob = drop(prob);
      if (t.excluded != nullptr) {
        const auto excluded = Isa::load_bytes(t.excluded + i * t.row_stride + j);
        prob = kept<Isa>(excluded, prob);
        dscore = kept<Isa>(excluded, dscore);
      }
      Isa::store(score, staged<Isa>(prob, t.stage));
      Isa::store(dprob, staged<Isa>(dscore, t.stage));
    }
  }
}

template <class Isa>
void softmax_grad(const SoftmaxGrad& t) {
  if (t.dropped != nullptr)
    softmax_grad_of<Isa, true>(t);
  else
    softmax_grad_of<Isa, false>(t);
}

template <class Isa>
void add(const float* more, std::int64_t count, float* values) {
  for (std::int64_t c = 0; c < count; c += lanes)
    Isa::store(values + c, Isa::add(Isa::load(values + c), Isa::load(more + c)));
}

inline float sum_of_lanes(const float* group) {
  float lane[lanes];
  __builtin_memcpy(lane, group, sizeof lane);
  for (std::int64_t half = lanes / 2; half > 0; half /= 2)
    for (std::int64_t l = 0; l < half; ++l) lane[l] += lane[l + half];
  return lane[0];
}

template <class Isa>
float dot(const float* x, const float* y, std::int64_t count) {
  typename Isa::Vector sums = Isa::broadcast(0);
  std::int64_t c = 0;
  for (; c + lanes <= count; c += lanes) sums = Isa::fma(Isa::load(x + c), Isa::load(y + c), sums);
  float lane[lanes], left[lanes] = {}, right[lanes] = {};
  for (std::int64_t l = 0; c + l < count; ++l) left[l] = x[c + l], right[l] = y[c + l];
  Isa::store(lane, Isa::fma(Isa::load(left), Isa::load(right), sums));
  return sum_of_lanes(lane);
}

/// A block of `rows` x `columns` groups at (i, j).
template <class Isa, int rows, int columns>
void add_lane_sums_block(const LaneSums& p, std::int64_t i, std::int64_t j) {
  using Vector = typename Isa::Vector;
  const float* const a = p.a + i * p.a_row;
  const float* const b = p.b + j * p.b_row;
  float* const sums = p.sums + i * p.sums_row + j * p.sums_column;
  const std::int64_t a_row = p.a_row, b_row = p.b_row;
  Vector chains[rows][columns];
  for (int r = 0; r < rows; ++r)
    for (int s = 0; s < columns; ++s)
      chains[r][s] = Isa::load(sums + r * p.sums_row + s * p.sums_column);
  for (std::int64_t c = 0; c < p.depth; c += lanes) {
    Vector right[columns];
    for (int s = 0; s < columns; ++s) right[s] = Isa::load(b + s * b_row + c);
    for (int r = 0; r < rows; ++r) {
      const Vector left = Isa::load(a + r * a_row + c);
      for (int s = 0; s < columns; ++s) chains[r][s] = Isa::fma(left, right[s], chains[r][s]);
    }
  }
  for (int r = 0; r < rows; ++r)
    for (int s = 0; s < columns; ++s)
      Isa::store(sums + r * p.sums_row + s * p.sums_column, chains[r][s]);
}

template <class Isa, int columns>
void add_lane_sums_columns(const LaneSums& p, std::int64_t j) {
  std::int64_t i = 0;
  for (; i + Isa::block_groups <= p.rows; i += Isa::block_groups)
    add_lane_sums_block<Isa, Isa::block_groups, columns>(p, i, j);
  for (; i < p.rows; ++i) add_lane_sums_block<Isa, 1, columns>(p, i, j);
}

template <class Isa>
void add_lane_sums(const LaneSums& p) {
  std::int64_t j = 0;
  for (; j + 2 <= p.columns; j += 2) add_lane_sums_columns<Isa, 2>(p, j);
  for (; j < p.columns; ++j) add_lane_sums_columns<Isa, 1>(p, j);
}

template <class Isa>
void exponentials(const float* x, std::int64_t count, float* values) {
  for (std::int64_t c = 0; c < count; c += lanes)
    Isa::store(values + c, exponential<Isa>(Isa::load(x + c)));
}

/// Calls `whole(c)` for every full group of lanes and `part(c, n)` for the rest.
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

/// The upper half of a bf16 number, or the fp16 code of a number that fp16 represents.
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

/// The code of `x` rounded to bf16, ties to even: half a unit less a little, and the little if the
/// last kept bit is 1.
template <class Isa>
typename Isa::Bits even_code_bf16(typename Isa::Vector x) {
  const auto bits = Isa::bits(x);
  const auto odd = Isa::both(Isa::template shift_right<16>(bits), Isa::fill(1));
  const auto rounded = Isa::plus(Isa::plus(bits, Isa::fill(0x7FFFU)), odd);
  const auto nan = Isa::either(bits, Isa::fill(0x00400000U));
  return Isa::template shift_right<16>(
      Isa::where_greater(magnitude<Isa>(bits), Isa::fill(0x7F800000U), nan, rounded));
}

/// Below 2^-14 in units of 2^-24, which adding 2^23 rounds to; else a shift of the exponent and of
/// the significand.
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

template <class Isa>
constexpr Kernels kernels_of() {
  return {.multiply = multiply<Isa>,
          .add_bias = add_bias<Isa>,
          .softmax_grad = softmax_grad<Isa>,
          .widen = widen<Isa>,
          .narrow = narrow<Isa>,
          .narrow_even = narrow_even<Isa>,
          .add_lane_sums = add_lane_sums<Isa>,
          .sum_of_lanes = sum_of_lanes,
          .add = add<Isa>,
          .dot = dot<Isa>,
          .exponential = exponentials<Isa>};
}

}  // namespace
}  // namespace assay::optimized::tile
