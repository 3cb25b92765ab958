#pragma once

#include <cstdint>

#include "tile/asked_rows.hpp"
#include "tile/each_sum.hpp"
#include "tile/kernels.hpp"
#include "tile/storing.hpp"
#include "tile/windows.hpp"

// Each instruction set has one source file that includes this file and is compiled for that set.
// Everything is in an unnamed namespace, and no inline function of the standard library is called.
// Otherwise, the linker could use a function compiled for one instruction set in the code of
// another.

namespace assay::optimized::tile {
namespace {

/// Computes a block of `rows` x `vectors` * 16 elements of the product, starting at (i, j).
template <class Isa, int rows, int vectors>
void multiply_block(const Product& p, std::int64_t i, std::int64_t j) {
  using Vector = typename Isa::Vector;
  Vector sums[rows][vectors];
  float* const c = p.c + i * p.c_row + j;
  // Prefetches the sums, because they have left the L1 cache since the previous tile.
  if (p.sum == Sum::add)
    for (int r = 0; r < rows; ++r)
      for (int v = 0; v < vectors; ++v) __builtin_prefetch(c + r * p.c_row + v * lanes, 1);
  if (p.sum == Sum::extend)
    each_sum(sums, c, p.c_row, [](const float* place, Vector& sum) { sum = Isa::load(place); });
  else
    each_sum(sums, c, p.c_row, [](const float*, Vector& sum) { sum = Isa::broadcast(0); });
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
  if (p.sum == Sum::add)
    each_sum(sums, c, p.c_row,
             [](float* place, Vector& sum) { Isa::store(place, Isa::add(Isa::load(place), sum)); });
  else
    each_sum(sums, c, p.c_row, [](float* place, Vector& sum) { Isa::store(place, sum); });
}

/// Computes the columns [j, j + vectors * 16) of the product.
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

/// Computes exp(x) = 2^n exp(r) with |r| <= ln(2)/2. The constant ln(2) is split into two numbers,
/// so that n ln(2) is more precise. The polynomial for exp(r) has the smallest possible maximum of
/// the relative error (2^-28 before rounding). The factor 2^n is multiplied in two steps, so that
/// underflow is gradual.
template <class Isa>
typename Isa::Vector exponential(typename Isa::Vector x) {
  using Vector = typename Isa::Vector;
  using Bits = typename Isa::Bits;
  const auto constant = [](float value) { return Isa::broadcast(value); };
  // Outside this range the result is 0 or infinity. With this order of the operands, min and max
  // pass NaN through.
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

/// Returns `x` with zeros in the lanes where `excluded` is positive.
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

inline float sum_of_lanes(const float* group) {
  float lane[lanes];
  __builtin_memcpy(lane, group, sizeof lane);
  for (std::int64_t half = lanes / 2; half > 0; half /= 2)
    for (std::int64_t l = 0; l < half; ++l) lane[l] += lane[l + half];
  return lane[0];
}

/// Returns `x` with zeros in the lanes from number `count` on.
template <class Isa>
typename Isa::Vector first_lanes(typename Isa::Vector x, std::int64_t count) {
  if (count >= lanes) return x;
  float lane[lanes];
  Isa::store(lane, x);
  for (std::int64_t l = count; l < lanes; ++l) lane[l] = 0;
  return Isa::load(lane);
}

template <class Isa, bool dropout, bool summed>
void softmax_grad_of(const SoftmaxGrad& t) {
  using Vector = typename Isa::Vector;
  const Vector scale = Isa::broadcast(t.scale);
  [[maybe_unused]] const Vector keep_factor = Isa::broadcast(t.keep_factor);
  for (std::int64_t i = 0; i < t.rows; ++i) {
    const Vector max = Isa::broadcast(t.max[i]);
    const Vector sum = Isa::broadcast(t.sum[i]);
    const Vector row_term = Isa::broadcast(t.row_term[i]);
    [[maybe_unused]] Vector sums = Isa::broadcast(0);
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
      [[maybe_unused]] Vector product = Isa::multiply(prob, dprob_of_kept);
      Vector dscore = Isa::multiply(prob, Isa::subtract(dprob_of_kept, row_term));
      if constexpr (dropout) prob = drop(prob);
      if (t.excluded != nullptr) {
        const auto excluded = Isa::load_bytes(t.excluded + i * t.row_stride + j);
        prob = kept<Isa>(excluded, prob);
        dscore = kept<Isa>(excluded, dscore);
        if constexpr (summed) product = kept<Isa>(excluded, product);
      }
      if constexpr (summed) sums = Isa::add(sums, first_lanes<Isa>(product, t.columns - j));
      Isa::store(score, staged<Isa>(prob, t.stage));
      Isa::store(dprob, staged<Isa>(dscore, t.stage));
    }
    if constexpr (summed) {
      float lane[lanes];
      Isa::store(lane, sums);
      t.dprob_sums[i] = sum_of_lanes(lane);
    }
  }
}

template <class Isa, bool dropout>
void softmax_grad_with(const SoftmaxGrad& t) {
  if (t.dprob_sums != nullptr)
    softmax_grad_of<Isa, dropout, true>(t);
  else
    softmax_grad_of<Isa, dropout, false>(t);
}

template <class Isa>
void softmax_grad(const SoftmaxGrad& t) {
  if (t.dropped != nullptr)
    softmax_grad_with<Isa, true>(t);
  else
    softmax_grad_with<Isa, false>(t);
}

template <class Isa>
void add(const float* more, std::int64_t count, float* values) {
  for (std::int64_t c = 0; c < count; c += lanes)
    Isa::store(values + c, Isa::add(Isa::load(values + c), Isa::load(more + c)));
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

template <class Isa>
void exponentials(const float* x, std::int64_t count, float* values) {
  for (std::int64_t c = 0; c < count; c += lanes)
    Isa::store(values + c, exponential<Isa>(Isa::load(x + c)));
}

template <class Isa>
constexpr Kernels kernels_of() {
  return {.multiply = multiply<Isa>,
          .add_bias = add_bias<Isa>,
          .softmax_grad = softmax_grad<Isa>,
          .widen = widen<Isa>,
          .narrow = narrow<Isa>,
          .narrow_even = narrow_even<Isa>,
          .add_windows = add_windows<Isa>,
          .sum_of_lanes = sum_of_lanes,
          .add = add<Isa>,
          .dot = dot<Isa>,
          .exponential = exponentials<Isa>};
}

}  // namespace
}  // namespace assay::optimized::tile
