#pragma once

#include <stdexcept>

namespace assay::spec {

/// Thrown if a kernel was not called because the test machine ran out of a resource: processes,
/// file descriptors or memory. The exception does not mean that the kernel has a fault.
class NotAsked : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace assay::spec
