#pragma once

#include "operands/tiles.hpp"

namespace assay::optimized {

/// to(j, i) = from(i, j).
void transpose(const Tile& from, std::int64_t rows, std::int64_t columns, const Tile& to);

/// Extents of a product, and its factors.
struct Factors {
  const Tile& left;
  const Tile& right;
  std::int64_t rows, columns, depth;
};

/// result = left right, or adds to what is there.
void multiply(const tile::Kernels& kernels, const Factors& factors, const Tile& result,
              tile::Sum sum = tile::Sum::start);
/// The same with left transposed: the depth runs through its rows.
void multiply_transposed(const tile::Kernels& kernels, const Factors& factors, const Tile& result,
                         tile::Sum sum = tile::Sum::start);

}  // namespace assay::optimized
