#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace assay::aclnn {

/// A stream: a thread that runs tasks in order.
class Stream {
 public:
  /// Creates a stream. `context` is the handle of the context that owns it.
  explicit Stream(const void* context);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  /// Waits until all tasks are done.
  ~Stream();

  const void* context() const { return context_; }
  void push(std::function<void()> task);
  /// Waits for all tasks. Returns the first exception of a task since the last wait, or null.
  std::exception_ptr wait();
  /// Waits for all tasks, at most for the time `limit`. Returns nothing if tasks are not done after
  /// this time. Otherwise returns the first exception of a task since the last wait, or null.
  std::optional<std::exception_ptr> wait_for(std::chrono::milliseconds limit);

 private:
  void work();

  const void* context_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;  ///< the first one is running
  bool ends_ = false;
  std::exception_ptr failure_;
  std::thread worker_;
};

}  // namespace assay::aclnn
