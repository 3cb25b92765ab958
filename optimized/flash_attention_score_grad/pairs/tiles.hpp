#pragma once

#include "operands/tiles.hpp"
#include "tile/pairs.hpp"

namespace assay::optimized {

using PairTile = TileOf<tile::Pair>;

/// The bf16 pairs of a block, for one host thread. A horizontal pair consists of two neighbours in
/// a row (channels or keys). A vertical pair consists of two neighbours in a column.
struct PairTiles {
  CacheLines<tile::Pair> storage;
  PairTile stored;  ///< rows of key or value before interleaving
  PairTile key_transposed, key_vertical, value_transposed;
  PairTile query, query_vertical, dy, dy_vertical;
  PairTile prob_vertical, dscore, dscore_vertical;
  std::int64_t rows = 0, columns = 0;  ///< extents of the block

  /// The smallest non-zero magnitudes of the tiles, encoded as in tile::LeastCommitted.
  std::uint16_t least_key = 0, least_value = 0, least_query = 0, least_dy = 0;
};

/// The two factors and the extents of a matrix product. The depth is counted in pairs of bf16
/// numbers.
struct PairFactors {
  const PairTile& left;
  bool left_transposed;  ///< true: the depth is along its rows
  const PairTile& right;
  std::int64_t rows, columns, depth;
  const tile::RowRange* asked = nullptr;  ///< as in tile::Product
};

}  // namespace assay::optimized
