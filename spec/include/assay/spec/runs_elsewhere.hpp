#pragma once

#include "assay/spec/implementation.hpp"

namespace assay::spec {

/// A base of an implementation whose kernel runs in another process, on a copy of the inputs that
/// it compares afterwards: nothing the kernel does reaches the inputs themselves, and whoever lends
/// them need not copy them once more.
class RunsElsewhere {
 public:
  virtual ~RunsElsewhere() = default;
  RunsElsewhere(const RunsElsewhere&) = delete;
  RunsElsewhere& operator=(const RunsElsewhere&) = delete;

  /// One that passes everything on to another implementation says what that says.
  virtual bool runs_elsewhere() const { return true; }

 protected:
  RunsElsewhere() = default;
};

/// Whether the implementation is such a one.
template <class Op>
bool runs_elsewhere(const Implementation<Op>& kernel) {
  const auto* const says = dynamic_cast<const RunsElsewhere*>(&kernel);
  return says != nullptr && says->runs_elsewhere();
}

}  // namespace assay::spec
