#include "aclnn/runtime/event.hpp"

#include <utility>

namespace assay::aclnn {

void Mark::reach() {
  {
    const std::lock_guard lock(mutex_);
    reached_ = std::chrono::steady_clock::now();
  }
  changed_.notify_all();
}

void Mark::wait() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return reached_.has_value(); });
}

std::optional<Mark::Time> Mark::reached() const {
  const std::lock_guard lock(mutex_);
  return reached_;
}

void Event::record(std::shared_ptr<const Mark> mark) {
  const std::lock_guard lock(mutex_);
  latest_ = std::move(mark);
}

std::shared_ptr<const Mark> Event::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

}  // namespace assay::aclnn
