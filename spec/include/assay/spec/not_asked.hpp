#pragma once

#include <stdexcept>

namespace assay::spec {

/// An implementation could not be asked, since the judge lacks what it takes: a process, a
/// descriptor, memory. Whoever runs it on behalf of the judge throws it; it says nothing of the
/// implementation.
class NotAsked : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace assay::spec
