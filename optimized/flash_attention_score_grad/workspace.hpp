#pragma once

#include <cstdint>
#include <vector>

#include "flash_attention_score_grad/pairs/tiles.hpp"
#include "operands/tiles.hpp"

namespace assay::optimized {

/// The buffers of one host thread.
struct ThreadTiles {
  Floats storage;
  std::vector<std::uint8_t> excluded, dropped;
  std::vector<tile::RowRange> kept;  ///< per group of columns; empty: nothing is masked
  Tile key, key_transposed, value, value_transposed, query, dy;
  Tile scores, dprob, bias;
  Tile dk, dv, dk_record, dv_record;
  float *max = nullptr, *sum = nullptr, *row_term = nullptr;
  float* dprob_sums = nullptr;  ///< null without a sink
  PairTiles pairs;
  /// True if the fp32 tiles of the current block (keys, rows) are loaded
  bool holds_keys = false, holds_rows = false;
};

/// Memory that is reused between runs, so that small problems do not allocate it every time.
struct Workspace {
  Floats dq, row_terms, sink_sums;
  std::vector<ThreadTiles> threads;
};

}  // namespace assay::optimized
