#pragma once

#include "operands/tiles.hpp"
#include "tile/pairs.hpp"

namespace assay::optimized {

using PairTile = TileOf<tile::Pair>;

/// What one host thread holds of a block in bf16 pairs: horizontal ones along the channels or keys
/// of a row, vertical ones of two rows.
struct PairTiles {
  CacheLines<tile::Pair> storage;
  PairTile stored;  ///< rows of key or value while they are taken apart
  PairTile key_transposed, key_vertical, value_transposed;
  PairTile query, query_vertical, dy, dy_vertical;
  PairTile prob_vertical, dscore, dscore_vertical;
  std::int64_t rows = 0, columns = 0;  ///< of the block

  /// The least magnitudes of the tiles, as tile::LeastCommitted has them.
  std::uint16_t least_key = 0, least_value = 0, least_query = 0, least_dy = 0;
};

/// Factors of a product, and its extents: the depth in pairs.
struct PairFactors {
  const PairTile& left;
  bool left_transposed;  ///< the depth runs through its rows
  const PairTile& right;
  std::int64_t rows, columns, depth;
  const tile::RowRange* asked = nullptr;  ///< as in tile::Product
};

}  // namespace assay::optimized
