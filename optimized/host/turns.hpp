#pragma once

#include <atomic>
#include <cstdint>

namespace assay::optimized {

/// Waits until the counter `next` is `mine`, which means that all earlier tasks are done.
inline void await_turn(const std::atomic<std::int64_t>& next, std::int64_t mine) {
  for (std::int64_t seen; (seen = next.load(std::memory_order_acquire)) != mine;)
    next.wait(seen, std::memory_order_acquire);
}

inline void pass_turn(std::atomic<std::int64_t>& next, std::int64_t mine) {
  next.store(mine + 1, std::memory_order_release);
  next.notify_all();
}

/// Advances the counter for a task that failed. Otherwise, later tasks would wait forever.
inline void skip_turn(std::atomic<std::int64_t>& next, std::int64_t mine) {
  if (next.load(std::memory_order_acquire) > mine) return;  // already advanced
  await_turn(next, mine);
  pass_turn(next, mine);
}

}  // namespace assay::optimized
