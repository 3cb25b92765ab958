#pragma once

#include <stdexcept>

namespace assay::spec {

/// The runner could not call an implementation because the machine ran out of a resource:
/// processes, descriptors or memory. The exception says nothing about the implementation.
class NotAsked : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace assay::spec
