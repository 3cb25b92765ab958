#include "assay/device/timeline.hpp"

#include <algorithm>

namespace assay::device {

Cycles Timeline::issue(Pipe pipe, Cycles ready, Cycles duration) {
  const auto index = static_cast<std::size_t>(pipe);
  const Cycles start = std::max(ready, free_at_[index]);
  busy_[index] += duration;
  return free_at_[index] = start + duration;
}

Cycles Timeline::makespan() const { return *std::max_element(free_at_.begin(), free_at_.end()); }

}  // namespace assay::device
