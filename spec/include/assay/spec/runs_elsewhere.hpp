#pragma once

#include "assay/spec/implementation.hpp"

namespace assay::spec {

/// Base class of an implementation whose kernel runs in another process. The kernel gets a copy of
/// the inputs, so it cannot modify the inputs of the caller. After the run the copy is compared
/// with the inputs.
class RunsElsewhere {
 public:
  virtual ~RunsElsewhere() = default;
  RunsElsewhere(const RunsElsewhere&) = delete;
  RunsElsewhere& operator=(const RunsElsewhere&) = delete;

  /// Returns whether the kernel runs in another process. A wrapper that forwards calls returns the
  /// answer of the wrapped implementation.
  virtual bool runs_elsewhere() const { return true; }

 protected:
  RunsElsewhere() = default;
};

/// Returns whether the kernel of the implementation runs in another process.
template <class Op>
bool runs_elsewhere(const Implementation<Op>& kernel) {
  const auto* const says = dynamic_cast<const RunsElsewhere*>(&kernel);
  return says != nullptr && says->runs_elsewhere();
}

}  // namespace assay::spec
