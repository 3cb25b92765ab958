#pragma once

#include <cstdint>

#include "tile/kernels.hpp"

// Kernels of the host modes avx512_bf16 and amx_bf16, which multiply pairs of bf16 numbers. These
// kernels sum in other orders than the kernels in kernels.hpp, and their instructions treat
// subnormal numbers as zero. Therefore their results differ, and each instruction set is a separate
// mode.

namespace assay::optimized::tile {

/// Two bf16 numbers that are adjacent along the depth of a product. The first number is in the
/// lower half.
using Pair = std::uint32_t;

/// A matrix product of bf16 pairs. Each element c(i, j) is the sum of the pair products a(i, k) .
/// b(k, j) with ascending k; the sum replaces c(i, j) or is added to it. AMX sums the lower and the
/// upper halves of every sixteen pairs separately, then adds both sums.
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

/// Interleaves two adjacent rows of bf16 numbers into pairs of vertical neighbours. If the number
/// of rows is odd, the last row is paired with zeros.
struct Interleaving {
  const Pair* from = nullptr;  ///< horizontal pairs, readable up to the next multiple of lanes
  std::int64_t from_row = 0;
  Pair* to = nullptr;  ///< ceil(rows / 2) rows of 2 `pairs`
  std::int64_t to_row = 0;
  std::int64_t rows = 0, pairs = 0;
};

/// P and dS of a tile, rounded to bf16 (ties away from zero) and packed as pairs. If P is below
/// `floor`, P and its dS count as zero.
struct Commitment {
  const float* prob = nullptr;
  const float* dscore = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t rows = 0, columns = 0;
  float floor = 0;
  Pair* prob_vertical = nullptr;    ///< ceil(rows / 2) rows of `columns` vertical pairs
  Pair* dscore_vertical = nullptr;  ///< same shape as prob_vertical
  std::int64_t vertical_row = 0;
  Pair* dscore_horizontal = nullptr;  ///< `rows` rows of ceil(columns / 2)
  std::int64_t horizontal_row = 0;
};

/// The smallest non-zero magnitudes of P and dS. Each is encoded as the bits of the bf16 number
/// minus one; 0xFFFF means that all numbers are zero.
struct LeastCommitted {
  std::uint16_t prob, dscore;
};

struct PairKernels {
  void (*multiply)(const PairProduct& product);
  /// Returns the smallest non-zero magnitude, encoded as its bf16 bits minus one, as in
  /// LeastCommitted.
  std::uint16_t (*interleave)(const Interleaving& rows);
  LeastCommitted (*commit)(const Commitment& tile);
};

extern const PairKernels avx512_bf16_kernels;
/// The product kernel of the mode amx_bf16. All other kernels of this mode are the kernels of
/// avx512_bf16, because every machine with AMX has both instruction sets. multiply_as_amx emulates
/// multiply_on_amx with other instructions.
void multiply_on_amx(const PairProduct& product);
void multiply_as_amx(const PairProduct& product);

}  // namespace assay::optimized::tile
