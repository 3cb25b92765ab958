#include "aclnn/runtime/registry.hpp"

#include <atomic>

namespace assay::aclnn {

std::uintptr_t fresh_handle() {
  constexpr std::uintptr_t distance = 16;  // handles look like addresses of objects
  static std::atomic<std::uintptr_t> last{0};
  return distance * ++last;
}

}  // namespace assay::aclnn
