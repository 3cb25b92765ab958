#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

namespace assay::aclnn {

/// A mark: a position in a stream of tasks. The mark is reached when all tasks that were enqueued
/// earlier are done. A stream runs all its tasks before it ends, so every mark is reached.
class Mark {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void reach();
  void wait() const;
  /// Returns the time when the mark was reached, or nothing if it was not reached yet.
  std::optional<Time> reached() const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::optional<Time> reached_;
};

/// Keeps the mark (position in a stream) that was recorded last. Thread-safe.
class Event {
 public:
  void record(std::shared_ptr<const Mark> mark);
  /// Returns the mark (position in a stream) that was recorded last, or null if no mark was
  /// recorded yet.
  std::shared_ptr<const Mark> latest() const;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Mark> latest_;
};

}  // namespace assay::aclnn
