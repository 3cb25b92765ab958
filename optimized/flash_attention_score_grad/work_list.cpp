#include "flash_attention_score_grad/work_list.hpp"

#include <algorithm>

namespace assay::optimized {

std::optional<HeadTile> HeadTiles::next() {
  for (; at_.b < tiling_->batch; ++at_.b, at_.head = 0, at_.index = 0)
    for (; at_.head < heads_; ++at_.head, at_.index = 0)
      if (at_.index < tiling_->sequence(at_.b).*tiles_)
        return HeadTile{.b = at_.b, .head = at_.head, .index = at_.index++};
  return std::nullopt;
}

WorkList::WorkList(const Tiling& tiling, std::int64_t heads_kv, std::int64_t group)
    : tiling_(&tiling),
      heads_kv_(heads_kv),
      group_(group),
      tiles_(tiling, heads_kv, &SequenceTiles::key_tiles) {
  for (const SequenceTiles& sequence : tiling.sequences)
    most_row_tiles_ = std::max(most_row_tiles_, sequence.row_tiles);
}

std::int64_t WorkList::slots_for(std::int64_t threads) const {
  return std::min(threads, tiling_->batch * heads_kv_);
}

void WorkList::add_slot(float* dq) {
  slots_.push_back(std::make_unique<Slot>());
  Slot& slot = *slots_.back();
  slot.dq = dq;
  slot.next_key_tile = std::make_unique<std::atomic<std::int64_t>[]>(
      static_cast<std::size_t>(group_ * most_row_tiles_));
  free_.push_back(&slot);
}

std::optional<KeyTile> WorkList::take() {
  const std::lock_guard lock(mutex_);
  const std::optional<HeadTile> next = tiles_.next();
  if (!next) return std::nullopt;
  if (next->index == 0) {
    current_ = free_.back();
    free_.pop_back();
    begin(*next, *current_);
  }
  return KeyTile{.b = next->b, .kv = next->head, .index = next->index, .slot = current_};
}

void WorkList::begin(const HeadTile& first, Slot& slot) const {
  const SequenceTiles& sequence = tiling_->sequence(first.b);
  slot.unfinished = sequence.key_tiles;
  for (std::int64_t g = 0; g < group_; ++g)
    for (std::int64_t r = 0; r < sequence.row_tiles; ++r)
      slot.next_key_tile[static_cast<std::size_t>(g * sequence.row_tiles + r)].store(
          sequence.keys_of(r).first, std::memory_order_relaxed);
}

void WorkList::finish(const KeyTile& key_tile) {
  if (--key_tile.slot->unfinished > 0) return;
  const std::lock_guard lock(mutex_);
  free_.push_back(key_tile.slot);
}

}  // namespace assay::optimized
