#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

namespace assay::aclnn {

/// A place in a stream, which its thread reaches when the tasks before it are done. Streams that
/// end run their tasks first, so that it is always reached.
class Mark {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void reach();
  void wait() const;
  /// When it was reached; nothing before.
  std::optional<Time> reached() const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::optional<Time> reached_;
};

/// The mark that was recorded last. Safe for several threads.
class Event {
 public:
  void record(std::shared_ptr<const Mark> mark);
  /// Null before the first record.
  std::shared_ptr<const Mark> latest() const;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Mark> latest_;
};

}  // namespace assay::aclnn
