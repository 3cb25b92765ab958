#include "aclnn/runtime/stream.hpp"

#include <utility>

namespace assay::aclnn {
namespace {

/// Runs the task and returns the exception that it threw, or null. Does not format a message:
/// memory may have run out. The thread that waits for the task formats it later.
std::exception_ptr failure_of(const std::function<void()>& task) noexcept {
  try {
    task();
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace

Stream::Stream(const void* context) : context_(context), worker_([this] { work(); }) {}

Stream::~Stream() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  worker_.join();
}

void Stream::push(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.notify_all();
}

std::exception_ptr Stream::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return tasks_.empty(); });
  return std::exchange(failure_, nullptr);
}

std::optional<std::exception_ptr> Stream::wait_for(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, limit, [&] { return tasks_.empty(); })) return std::nullopt;
  return std::exchange(failure_, nullptr);
}

void Stream::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ends_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    const std::function<void()> task = std::move(tasks_.front());
    lock.unlock();
    const std::exception_ptr failure = failure_of(task);
    lock.lock();
    if (failure && !failure_) failure_ = failure;
    tasks_.pop_front();
    changed_.notify_all();
  }
}

}  // namespace assay::aclnn
