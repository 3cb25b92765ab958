#pragma once

#include <memory>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/result/case_report.hpp"
#include "assay/spec/implementation.hpp"

namespace assay::conformance {

/// Judges one case of one kernel in three steps: call, judge, conclude. Each step runs once, in
/// this order. The judge can therefore work on one case while the kernel runs the next one. The
/// step `judge` also computes the references, unless several kernels share the prepared case.
template <class Op>
class CaseInSteps {
 public:
  /// `made`: the prepared data of case `c`, or null. The time of the preparation counts as time of
  /// the case.
  explicit CaseInSteps(Case<Op> c, std::unique_ptr<PreparedCase<Op>> made = nullptr);
  /// Uses a prepared case that several kernels share. The prepared case must outlive this object.
  explicit CaseInSteps(PreparedCase<Op>& prepared);
  ~CaseInSteps();
  CaseInSteps(CaseInSteps&&) noexcept;

  /// Calls the kernel: phase 1 (the check of the arguments), then one run. A second run follows if
  /// the kernel declares a fixed order of additions and the case is small enough. This step also
  /// judges two types of cases completely: relations (comparisons of several runs) and calls that
  /// violate a requirement.
  void call(spec::Implementation<Op>& kernel);
  /// Judges the outputs. Does not call the kernel, so another thread may call the kernel at the
  /// same time.
  void judge();
  /// Returns whether `conclude` may call the kernel again. This happens in two situations. After a
  /// statistical failure, it calls the kernel with data from fresh seeds. If the documents
  /// contradict each other about the memory order of an input, it calls the kernel with another
  /// order after wrong numbers.
  bool asks_again() const;
  /// Finishes the case and returns the report. `kernel` may be a different instance of the same
  /// kernel.
  CaseReport conclude(spec::Implementation<Op>& kernel);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace assay::conformance
