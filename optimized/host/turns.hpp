#pragma once

#include <atomic>
#include <cstdint>

namespace assay::optimized {

/// Waits until the counter `next` equals `mine`, the number of this task. All earlier tasks are
/// then done.
inline void await_turn(const std::atomic<std::int64_t>& next, std::int64_t mine) {
  for (std::int64_t seen; (seen = next.load(std::memory_order_acquire)) != mine;)
    next.wait(seen, std::memory_order_acquire);
}

inline void pass_turn(std::atomic<std::int64_t>& next, std::int64_t mine) {
  next.store(mine + 1, std::memory_order_release);
  next.notify_all();
}

/// Waits until the counter is larger than `place`. When a thread calls `advance`, the counter grows
/// and the waiting threads wake up.
inline void await_beyond(const std::atomic<std::int64_t>& counter, std::int64_t place) {
  for (std::int64_t seen; (seen = counter.load(std::memory_order_acquire)) <= place;)
    counter.wait(seen, std::memory_order_acquire);
}

inline void advance(std::atomic<std::int64_t>& counter, std::int64_t to) {
  counter.store(to, std::memory_order_release);
  counter.notify_all();
}

/// Advances the counter also if the task failed. Otherwise, later tasks would wait forever.
inline void skip_turn(std::atomic<std::int64_t>& next, std::int64_t mine) {
  if (next.load(std::memory_order_acquire) > mine) return;  // already advanced
  await_turn(next, mine);
  pass_turn(next, mine);
}

}  // namespace assay::optimized
