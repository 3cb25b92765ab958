#include "aclnn/stream.hpp"

#include <utility>

#include "aclnn/failure.hpp"

namespace assay::aclnn {
namespace {

/// Why the task failed, or nothing.
std::optional<std::string> run(const std::function<void()>& task) {
  try {
    task();
    return std::nullopt;
  } catch (...) {
    return current_failure(Family::runtime).what();
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

std::optional<std::string> Stream::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return tasks_.empty(); });
  return std::exchange(failure_, std::nullopt);
}

void Stream::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ends_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    const std::function<void()> task = std::move(tasks_.front());
    lock.unlock();
    const auto failure = run(task);
    lock.lock();
    if (failure && !failure_) failure_ = failure;
    tasks_.pop_front();
    changed_.notify_all();
  }
}

}  // namespace assay::aclnn
