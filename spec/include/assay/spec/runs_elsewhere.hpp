#pragma once

namespace assay::spec {

/// A base of an implementation whose kernel runs in another process, on a copy of the inputs that
/// it compares afterwards: nothing the kernel does reaches the inputs themselves, and whoever lends
/// them need not copy them once more.
class RunsElsewhere {
 public:
  virtual ~RunsElsewhere() = default;
  RunsElsewhere(const RunsElsewhere&) = delete;
  RunsElsewhere& operator=(const RunsElsewhere&) = delete;

 protected:
  RunsElsewhere() = default;
};

}  // namespace assay::spec
