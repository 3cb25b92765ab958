#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "assay/optimized/flash_attention_score_grad/tiling.hpp"

namespace assay::optimized {

/// One tile of one head of one sequence.
struct HeadTile {
  std::int64_t b, head, index;
};

/// Counts through the tiles of all heads of all sequences.
class HeadTiles {
 public:
  /// It refers to the tiling; `tiles` is row_tiles or key_tiles.
  HeadTiles(const Tiling& tiling, std::int64_t heads, std::int64_t SequenceTiles::*tiles)
      : tiling_(&tiling), heads_(heads), tiles_(tiles) {}

  std::optional<HeadTile> next();

 private:
  const Tiling* tiling_;
  std::int64_t heads_;
  std::int64_t SequenceTiles::*tiles_;
  HeadTile at_ = {};
};

/// What a key head needs while its key tiles are in work: room for the sums of its dq, and for every
/// row tile of its query heads the key tile that may add next.
struct Slot {
  float* dq = nullptr;
  std::unique_ptr<std::atomic<std::int64_t>[]> next_key_tile;
  std::atomic<std::int64_t> unfinished = 0;
};

/// One key tile of one key head: the unit of work of a host thread.
struct KeyTile {
  std::int64_t b, kv, index;
  Slot* slot;
};

/// Hands out key tiles in ascending order. When a head begins, all tiles of earlier heads are taken and
/// the other threads hold what is unfinished of them: one slot per thread suffices.
class WorkList {
 public:
  /// It refers to the tiling. `group`: query heads per key head.
  WorkList(const Tiling& tiling, std::int64_t heads_kv, std::int64_t group);

  /// The slots that `threads` threads need at most.
  std::int64_t slots_for(std::int64_t threads) const;
  /// Adds a slot whose sums of dq lie at `dq`.
  void add_slot(float* dq);

  std::optional<KeyTile> take();
  void finish(const KeyTile& key_tile);

 private:
  void begin(const HeadTile& first, Slot& slot) const;

  const Tiling* tiling_;
  std::int64_t heads_kv_, group_, most_row_tiles_ = 0;
  HeadTiles tiles_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<Slot*> free_;
  Slot* current_ = nullptr;  ///< of the head whose tiles are being handed out
  std::mutex mutex_;
};

}  // namespace assay::optimized
