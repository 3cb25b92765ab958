#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace assay::optimized {

/// One tile of one head of one sequence.
struct HeadTile {
  std::int64_t b, head, index;
};

/// Iterates over the tiles of all heads of all sequences.
class HeadTiles {
 public:
  /// `tiles_of` returns the number of tiles that each head of sequence b has.
  HeadTiles(std::int64_t batch, std::int64_t heads,
            std::function<std::int64_t(std::int64_t b)> tiles_of)
      : batch_(batch), heads_(heads), tiles_of_(std::move(tiles_of)) {}

  std::optional<HeadTile> next();
  std::int64_t tiles_of(std::int64_t b) const { return tiles_of_(b); }
  /// The total number of heads in all sequences.
  std::int64_t heads() const { return batch_ * heads_; }

 private:
  std::int64_t batch_, heads_;
  std::function<std::int64_t(std::int64_t b)> tiles_of_;
  HeadTile at_ = {};
};

/// Distributes the tiles of key heads to the host threads, one tile at a time, in ascending order.
/// A Slot contains the data of a head while its tiles are being processed.
///
/// When a head starts, all tiles of earlier heads have been distributed, and each other thread has
/// at most one unfinished tile. One slot per thread is therefore enough.
template <class Slot>
class WorkList {
 public:
  /// `begin` prepares the slot of a head before its first tile is distributed.
  WorkList(HeadTiles tiles, std::function<void(const HeadTile& head, Slot& slot)> begin)
      : tiles_(std::move(tiles)), begin_(std::move(begin)) {}

  /// A tile that a thread received and has not finished yet.
  struct Item : HeadTile {
    Slot* slot;
    std::atomic<std::int64_t>* unfinished;  ///< unfinished tiles of its head
  };

  /// Returns the maximum number of slots (data of one head) that `threads` threads need.
  std::int64_t slots_for(std::int64_t threads) const { return std::min(threads, tiles_.heads()); }
  Slot& add_slot();

  std::optional<Item> take();
  void finish(const Item& item);

 private:
  struct Head {
    Slot slot;
    std::atomic<std::int64_t> unfinished = 0;
  };

  HeadTiles tiles_;
  std::function<void(const HeadTile& head, Slot& slot)> begin_;
  std::vector<std::unique_ptr<Head>> all_;
  std::vector<Head*> free_;
  Head* current_ = nullptr;  ///< the head whose tiles are being distributed
  std::mutex mutex_;
};

template <class Slot>
Slot& WorkList<Slot>::add_slot() {
  free_.push_back(all_.emplace_back(std::make_unique<Head>()).get());
  return free_.back()->slot;
}

template <class Slot>
std::optional<typename WorkList<Slot>::Item> WorkList<Slot>::take() {
  const std::lock_guard lock(mutex_);
  const std::optional<HeadTile> next = tiles_.next();
  if (!next) return std::nullopt;
  if (next->index == 0) {
    current_ = free_.back();
    free_.pop_back();
    current_->unfinished = tiles_.tiles_of(next->b);
    begin_(*next, current_->slot);
  }
  return Item{*next, &current_->slot, &current_->unfinished};
}

template <class Slot>
void WorkList<Slot>::finish(const Item& item) {
  if (--*item.unfinished > 0) return;
  const std::lock_guard lock(mutex_);
  for (const auto& head : all_)
    if (&head->slot == item.slot) free_.push_back(head.get());
}

}  // namespace assay::optimized
