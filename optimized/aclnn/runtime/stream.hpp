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

/// Tasks that one thread runs in their order.
class Stream {
 public:
  /// `context`: the handle of the context to which it belongs.
  explicit Stream(const void* context);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  /// Waits for all tasks.
  ~Stream();

  const void* context() const { return context_; }
  void push(std::function<void()> task);
  /// Waits for all tasks. Returns what the first of them failed with since the last wait, or null.
  std::exception_ptr wait();
  /// The same, but not longer than `limit`: nothing where tasks are left then.
  std::optional<std::exception_ptr> wait_for(std::chrono::milliseconds limit);

 private:
  void work();

  const void* context_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;  ///< the first one is being run
  bool ends_ = false;
  std::exception_ptr failure_;
  std::thread worker_;
};

}  // namespace assay::aclnn
