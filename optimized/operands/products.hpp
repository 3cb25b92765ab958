#pragma once

#include <algorithm>

#include "operands/tiles.hpp"

namespace assay::optimized {

/// Transposes a tile: to(j, i) = from(i, j).
template <class Number>
void transpose(const TileOf<Number>& from, std::int64_t rows, std::int64_t columns,
               const TileOf<Number>& to) {
  constexpr std::int64_t edge = tile::lanes;
  for (std::int64_t i0 = 0; i0 < rows; i0 += edge)
    for (std::int64_t d = 0; d < columns; ++d)
      for (std::int64_t i = i0; i < std::min(i0 + edge, rows); ++i) to.row(d)[i] = from.row(i)[d];
}

/// The extents and factors of a matrix product.
struct Factors {
  const Tile& left;
  const Tile& right;
  std::int64_t rows, columns, depth;
  const tile::RowRange* asked = nullptr;  ///< as in tile::Product
};

/// Computes result = left * right, or adds the product to result.
void multiply(const tile::Kernels& kernels, const Factors& factors, const Tile& result,
              tile::Sum sum = tile::Sum::start);
/// Computes the same as `multiply`, but with a transposed left operand: it is stored as depth x
/// rows.
void multiply_transposed(const tile::Kernels& kernels, const Factors& factors, const Tile& result,
                         tile::Sum sum = tile::Sum::start);

}  // namespace assay::optimized
