#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/device/ascend.hpp"
#include "assay/optimized/block_plan.hpp"
#include "assay/spec/attention_problem.hpp"
#include "assay/spec/implementation.hpp"

namespace assay::optimized {

/// Describes which keys j query i can attend to: keys with i - before <= j <= i + after, and keys
/// with j < `prefix`. i and j count from the start of the sequence.
struct Window {
  std::int64_t before, after, prefix = 0;
};

/// Half-open range [first, last) of key tiles.
struct TileRange {
  std::int64_t first = 0, last = 0;

  bool empty() const { return first >= last; }
  bool holds(std::int64_t tile) const { return first <= tile && tile < last; }
};

/// Describes how the scores of one sequence and head are split into blocks.
struct SequenceTiles {
  std::int64_t seq_q, seq_kv;
  std::int64_t rows, columns;         ///< of a block of scores
  std::int64_t row_tiles, key_tiles;  ///< blocks along the queries and along the keys
  Window window;

  /// Returns the key tiles that contain at least one key to which a query of the row tile may
  /// attend. All other key tiles are skipped.
  TileRange keys_of(std::int64_t row_tile) const;
  /// Return the rows of a row tile, and the keys of a key tile. The last tile may be smaller.
  std::int64_t rows_of(std::int64_t row_tile) const;
  std::int64_t columns_of(std::int64_t key_tile) const;
  /// Returns the number of blocks that are computed.
  std::int64_t blocks() const;
};

/// The tiling of one problem for a device. It determines the order of every sum.
struct Tiling : BlockPlan {
  std::int64_t batch = 0;
  std::vector<SequenceTiles> sequences;  ///< one entry if all are equal, otherwise `batch` entries

  const SequenceTiles& sequence(std::int64_t b) const {
    return sequences[sequences.size() == 1 ? 0 : static_cast<std::size_t>(b)];
  }
  /// Returns the number of sequences for which the entry of `sequences` stands.
  std::int64_t repeats() const { return sequences.size() == 1 ? batch : 1; }
  /// Return the numbers of key tiles and of computed blocks of one head, over all sequences.
  std::int64_t key_tiles() const;
  std::int64_t blocks() const;
};

/// Returns the tiling of a non-empty problem. Deterministic: the same arguments give the same
/// tiling.
/// Errors: device::DeviceFault, naming buffer, tile and limit, if even the smallest tiles do not
/// fit.
Tiling plan(const spec::AttentionProblem& problem, const device::Spec& device);

/// Counts, for each branch of the tiling, how often it occurs: full tiles, smaller last tiles, key
/// tiles without a block, blocks, and whether keys stay in L1.
std::vector<spec::Metric> regimes_of(const Tiling& tiling);

/// Formats the tiling as text for people: tile sizes, then one line per buffer.
std::string to_text(const Tiling& tiling);

}  // namespace assay::optimized
