#pragma once

#include <cstdint>

#include "tile/kernels.hpp"

// Kernels of the host modes avx512_bf16 and amx_bf16, which multiply bf16 numbers pair by pair.
// Their sums have other orders than those of kernels.hpp, and the instructions take subnormal
// numbers for zero: therefore each is a mode of its own, and no file for other instructions has
// their kernels.

namespace assay::optimized::tile {

/// Two bf16 numbers that follow each other along the depth of a product, the first in the lower
/// half.
using Pair = std::uint32_t;

/// c(i, j) = or += the chain over k, ascending, of the pair products a(i, k) . b(k, j). On AMX of
/// each sixteen pairs first the lower and the upper products are summed, then both are added.
struct PairProduct {
  const Pair* a = nullptr;
  std::int64_t a_row = 0, a_depth = 0;  ///< strides of a
  const Pair* b = nullptr;              ///< readable up to the next multiple of lanes
  std::int64_t b_row = 0;
  float* c = nullptr;
  std::int64_t c_row = 0;
  std::int64_t rows = 0, columns = 0, depth = 0;
  Sum sum = Sum::start;
  const RowRange* asked = nullptr;  ///< as in Product
};

/// Rows of bf16 numbers, made pairs of vertical neighbours; behind an odd last row comes a zero.
struct Interleaving {
  const Pair* from = nullptr;  ///< horizontal pairs, readable up to the next multiple of lanes
  std::int64_t from_row = 0;
  Pair* to = nullptr;  ///< ceil(rows / 2) rows of 2 `pairs`
  std::int64_t to_row = 0;
  std::int64_t rows = 0, pairs = 0;
};

/// P and dS of a tile, rounded half away from zero to bf16 and made pairs. A P below `floor` counts
/// as zero, and so does its dS.
struct Commitment {
  const float* prob = nullptr;
  const float* dscore = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t rows = 0, columns = 0;
  float floor = 0;
  Pair* prob_vertical = nullptr;    ///< ceil(rows / 2) rows of `columns`, as the next
  Pair* dscore_vertical = nullptr;  ///< of pairs of vertical neighbours
  std::int64_t vertical_row = 0;
  Pair* dscore_horizontal = nullptr;  ///< `rows` rows of ceil(columns / 2)
  std::int64_t horizontal_row = 0;
};

/// The least magnitudes that are not zero, as bf16 codes less one; 0xFFFF where all is zero.
struct LeastCommitted {
  std::uint16_t prob, dscore;
};

struct PairKernels {
  void (*multiply)(const PairProduct& product);
  /// Returns the least magnitude, as LeastCommitted has it.
  std::uint16_t (*interleave)(const Interleaving& rows);
  LeastCommitted (*commit)(const Commitment& tile);
};

extern const PairKernels avx512_bf16_kernels;
/// The products of the mode amx_bf16, which has the rest from avx512_bf16: each machine with AMX
/// has both. The second does in other instructions what the first does.
void multiply_on_amx(const PairProduct& product);
void multiply_as_amx(const PairProduct& product);

}  // namespace assay::optimized::tile
