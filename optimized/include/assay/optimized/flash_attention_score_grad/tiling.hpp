#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/device/ascend.hpp"
#include "assay/optimized/block_plan.hpp"
#include "assay/spec/implementation.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::optimized {

/// Keys j that query i can attend to: i - before <= j <= i + after, counted from the upper left
/// corner of its sequence, and those in front of `prefix`.
struct Window {
  std::int64_t before, after, prefix = 0;
};

/// Half-open range of key tiles.
struct TileRange {
  std::int64_t first = 0, last = 0;

  bool empty() const { return first >= last; }
  bool holds(std::int64_t tile) const { return first <= tile && tile < last; }
};

/// How the scores of one sequence and head are cut.
struct SequenceTiles {
  std::int64_t seq_q, seq_kv;
  std::int64_t rows, columns;         ///< of a block of scores
  std::int64_t row_tiles, key_tiles;  ///< blocks along the queries and along the keys
  Window window;

  /// Key tiles that hold a key which a query of the row tile may attend to; the others are skipped.
  TileRange keys_of(std::int64_t row_tile) const;
  /// Rows of a row tile and keys of a key tile: fewer in the last one.
  std::int64_t rows_of(std::int64_t row_tile) const;
  std::int64_t columns_of(std::int64_t key_tile) const;
  /// Blocks that are computed.
  std::int64_t blocks() const;
};

/// How one problem is cut for a device; everything else follows from it.
struct Tiling : BlockPlan {
  std::int64_t batch = 0;
  std::vector<SequenceTiles> sequences;  ///< one for all where they are alike, else `batch`

  const SequenceTiles& sequence(std::int64_t b) const {
    return sequences[sequences.size() == 1 ? 0 : static_cast<std::size_t>(b)];
  }
  /// Sequences that one entry of `sequences` stands for.
  std::int64_t repeats() const { return sequences.size() == 1 ? batch : 1; }
  /// Of all sequences, for one head: key tiles, and blocks that are computed.
  std::int64_t key_tiles() const;
  std::int64_t blocks() const;
};

/// The tiling of a non-empty problem. Pure: the same arguments give the same tiling.
/// Errors: device::DeviceFault, naming buffer, tile and limit, if not even the smallest tiles fit.
Tiling plan(const spec::FlashAttentionScoreGrad::Problem& problem, const device::Spec& device);

/// Whole tiles and tails, tiles that no block meets, blocks, and where keys are kept.
std::vector<spec::Metric> regimes_of(const Tiling& tiling);

/// The plan for people: extents, then one line per buffer.
std::string to_text(const Tiling& tiling);

}  // namespace assay::optimized
