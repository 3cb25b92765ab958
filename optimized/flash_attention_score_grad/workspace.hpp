#pragma once

#include <cstdint>
#include <vector>

#include "flash_attention_score_grad/pairs/tiles.hpp"
#include "operands/tiles.hpp"

namespace assay::optimized {

/// What one host thread works in.
struct ThreadTiles {
  Floats storage;
  std::vector<std::uint8_t> excluded, dropped;
  std::vector<tile::RowRange> kept;  ///< by groups of columns; empty: nothing is excluded
  Tile key, key_transposed, value, value_transposed, query, dy;
  Tile scores, dprob, bias;
  Tile dk, dv, dk_record, dv_record;
  float *max = nullptr, *sum = nullptr, *row_term = nullptr;
  PairTiles pairs;
  bool holds_keys = false, holds_rows = false;  ///< in fp32, of the block in work
};

/// Kept between runs, so that small problems do not pay for fresh memory.
struct Workspace {
  Floats dq, row_terms;
  std::vector<ThreadTiles> threads;
};

}  // namespace assay::optimized
