#include <immintrin.h>

#include "tile/asked_rows.hpp"
#include "tile/each_sum.hpp"
#include "tile/pairs.hpp"

// This file is compiled for AVX-512 BF16. As in body.hpp, everything is in an unnamed namespace,
// and no inline function of the standard library is called.

namespace assay::optimized::tile {
namespace {

constexpr int block_rows = 8, block_vectors = 2;

__m512i load(const Pair* from) { return _mm512_loadu_si512(from); }
void store(Pair* to, __m512i x) { _mm512_storeu_si512(to, x); }

__m512 dot(__m512 sum, __m512i left, __m512i right) {
  return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(left), reinterpret_cast<__m512bh>(right));
}

/// Computes a block of `rows` x `vectors` * 16 elements of the product, starting at (i, j).
template <int rows, int vectors>
void multiply_block(const PairProduct& p, std::int64_t i, std::int64_t j) {
  __m512 sums[rows][vectors];
  float* const c = p.c + i * p.c_row + j;
  // Prefetches the sums, because they have left the L1 cache since the previous tile.
  if (p.sum == Sum::add)
    for (int r = 0; r < rows; ++r)
      for (int v = 0; v < vectors; ++v) __builtin_prefetch(c + r * p.c_row + v * lanes, 1);
  if (p.sum == Sum::extend)
    each_sum(sums, c, p.c_row,
             [](const float* place, __m512& sum) { sum = _mm512_loadu_ps(place); });
  else
    each_sum(sums, c, p.c_row, [](const float*, __m512& sum) { sum = _mm512_setzero_ps(); });
  const Pair* a = p.a + i * p.a_row;
  const Pair* b = p.b + j;
  const std::int64_t a_row = p.a_row, a_depth = p.a_depth, b_row = p.b_row;
  for (std::int64_t k = p.depth; k > 0; --k) {
    __m512i right[vectors];
    for (int v = 0; v < vectors; ++v) right[v] = load(b + v * lanes);
    for (int r = 0; r < rows; ++r) {
      const __m512i left = _mm512_set1_epi32(static_cast<int>(a[r * a_row]));
      for (int v = 0; v < vectors; ++v) sums[r][v] = dot(sums[r][v], left, right[v]);
    }
    a += a_depth;
    b += b_row;
  }
  if (p.sum == Sum::add)
    each_sum(sums, c, p.c_row, [](float* place, __m512& sum) {
      _mm512_storeu_ps(place, _mm512_add_ps(_mm512_loadu_ps(place), sum));
    });
  else
    each_sum(sums, c, p.c_row, [](float* place, __m512& sum) { _mm512_storeu_ps(place, sum); });
}

/// Computes the columns [j, j + vectors * 16) of the product.
template <int vectors>
void multiply_columns(const PairProduct& p, std::int64_t j) {
  const RowRange rows = asked_rows(p.asked, p.rows, j / lanes, vectors);
  std::int64_t i = rows.first;
  for (; i + block_rows <= rows.last; i += block_rows) multiply_block<block_rows, vectors>(p, i, j);
  for (; i + 4 <= rows.last; i += 4) multiply_block<4, vectors>(p, i, j);
  for (; i < rows.last; ++i) multiply_block<1, vectors>(p, i, j);
}

void multiply(const PairProduct& p) {
  constexpr std::int64_t width = block_vectors * lanes;
  std::int64_t j = 0;
  for (; j + width <= p.columns; j += width) multiply_columns<block_vectors>(p, j);
  for (; j < p.columns; j += lanes) multiply_columns<1>(p, j);
}

/// Returns, for each 16-bit lane, the minimum of `least` and the encoded magnitude of the bf16
/// number. The code of a magnitude is its bits minus one. Zero then gets the largest code, so it is
/// never the minimum.
__m512i lesser(__m512i least, __m512i pairs) {
  const __m512i magnitudes = _mm512_and_si512(pairs, _mm512_set1_epi16(0x7FFF));
  return _mm512_min_epu16(least, _mm512_sub_epi16(magnitudes, _mm512_set1_epi16(1)));
}

std::uint16_t least_of(__m512i halves) {
  std::uint16_t words[2 * lanes], least = 0xFFFF;
  _mm512_storeu_si512(words, halves);
  for (const std::uint16_t word : words) least = word < least ? word : least;
  return least;
}

std::uint16_t interleave(const Interleaving& p) {
  // In the permutation, indices below 32 select 16-bit words of the first row, and larger indices
  // select words of the second row.
  alignas(64) std::uint16_t order[2][2 * lanes];
  for (std::uint16_t half = 0; half < 2; ++half)
    for (std::uint16_t l = 0; l < lanes; ++l) {
      order[half][2 * l] = static_cast<std::uint16_t>(half * lanes + l);
      order[half][2 * l + 1] = static_cast<std::uint16_t>(order[half][2 * l] + 2 * lanes);
    }
  const __m512i first = _mm512_load_si512(order[0]), second = _mm512_load_si512(order[1]);
  __m512i least = _mm512_set1_epi16(-1);
  for (std::int64_t i = 0; i < p.rows; i += 2) {
    const Pair* const upper = p.from + i * p.from_row;
    Pair* const to = p.to + i / 2 * p.to_row;
    for (std::int64_t c = 0; c < p.pairs; c += lanes) {
      const __m512i x = load(upper + c);
      const __m512i y = i + 1 < p.rows ? load(upper + p.from_row + c) : _mm512_setzero_si512();
      least = lesser(lesser(least, x), y);
      store(to + 2 * c, _mm512_permutex2var_epi16(x, first, y));
      store(to + 2 * c + lanes, _mm512_permutex2var_epi16(x, second, y));
    }
  }
  return least_of(least);
}

/// Rounds to bf16 in the upper half of each 32-bit word, ties away from zero: adds half a unit of
/// the last place to the magnitude.
__m512i rounded(__m512i bits) {
  const __m512 x = _mm512_castsi512_ps(bits);
  const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
  const __m512i moved = _mm512_mask_or_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x8000)), nan,
                                             bits, _mm512_set1_epi32(0x00400000));
  return _mm512_and_si512(moved, _mm512_set1_epi32(static_cast<int>(0xFFFF0000U)));
}

/// P and dS of up to 16 elements of a row, as bf16 numbers in the upper halves of 32-bit words.
struct Committed {
  __m512i prob, dscore;
};

Committed committed(const Commitment& p, std::int64_t i, std::int64_t j, __mmask16 kept) {
  if (i >= p.rows) return {_mm512_setzero_si512(), _mm512_setzero_si512()};
  const __m512i prob = rounded(_mm512_maskz_loadu_epi32(kept, p.prob + i * p.row_stride + j));
  const __m512i magnitude = _mm512_and_si512(prob, _mm512_set1_epi32(0x7FFFFFFF));
  const __m512i one = _mm512_set1_epi32(1);
  const __m512i floor = _mm512_castps_si512(_mm512_set1_ps(p.floor));
  // If P is exactly zero, dS is not set to zero, because dropout may have set P to zero.
  const __mmask16 counts = _mm512_mask_cmpge_epu32_mask(kept, _mm512_sub_epi32(magnitude, one),
                                                        _mm512_sub_epi32(floor, one));
  return {_mm512_maskz_mov_epi32(counts, prob),
          rounded(_mm512_maskz_loadu_epi32(counts, p.dscore + i * p.row_stride + j))};
}

/// Packs the upper halves of both operands into pairs of bf16 numbers. The lower halves must be
/// zero.
__m512i vertical_pairs(__m512i upper, __m512i lower) {
  return _mm512_or_si512(_mm512_srli_epi32(upper, 16), lower);
}

LeastCommitted commit(const Commitment& p) {
  __m512i least_prob = _mm512_set1_epi16(-1), least_dscore = least_prob;
  const auto put_horizontal = [&](std::int64_t i, std::int64_t j, __m512i dscore) {
    _mm256_storeu_si256(
        reinterpret_cast<__m256i*>(p.dscore_horizontal + i * p.horizontal_row + j / 2),
        _mm512_cvtepi32_epi16(_mm512_srli_epi32(dscore, 16)));
  };
  for (std::int64_t i = 0; i < p.rows; i += 2)
    for (std::int64_t j = 0; j < p.columns; j += lanes) {
      const std::int64_t rest = p.columns - j;
      const auto kept = static_cast<__mmask16>(rest < lanes ? (1U << rest) - 1 : 0xFFFFU);
      const Committed upper = committed(p, i, j, kept), lower = committed(p, i + 1, j, kept);
      const __m512i prob = vertical_pairs(upper.prob, lower.prob);
      const __m512i dscore = vertical_pairs(upper.dscore, lower.dscore);
      least_prob = lesser(least_prob, prob), least_dscore = lesser(least_dscore, dscore);
      const std::int64_t at = i / 2 * p.vertical_row + j;
      store(p.prob_vertical + at, prob);
      store(p.dscore_vertical + at, dscore);
      put_horizontal(i, j, upper.dscore);
      if (i + 1 < p.rows) put_horizontal(i + 1, j, lower.dscore);
    }
  return {least_of(least_prob), least_of(least_dscore)};
}

}  // namespace

constinit const PairKernels avx512_bf16_kernels = {
    .multiply = multiply, .interleave = interleave, .commit = commit};

}  // namespace assay::optimized::tile
