#pragma once

#include <memory>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/result/case_report.hpp"
#include "assay/spec/implementation.hpp"

namespace assay::conformance {

/// Judges one case of one kernel in three steps: call, judge, conclude. Each step runs once, in
/// this order. The judge can therefore work on one case while the kernel runs the next. `judge`
/// computes the references if the prepared case is not shared.
template <class Op>
class CaseInSteps {
 public:
  /// `made`: a prepared case of `c`, made in advance, or null. The time to make it counts as time
  /// of the case.
  explicit CaseInSteps(Case<Op> c, std::unique_ptr<PreparedCase<Op>> made = nullptr);
  /// Uses a prepared case that several kernels share. It must outlive this object.
  explicit CaseInSteps(PreparedCase<Op>& prepared);
  ~CaseInSteps();
  CaseInSteps(CaseInSteps&&) noexcept;

  /// Calls the kernel: phase 1 (the check of the arguments), then one run. A second run follows if
  /// the kernel declares a fixed order and the case is small enough. Relations and violations are
  /// judged here as well.
  void call(spec::Implementation<Op>& kernel);
  /// Judges the outputs. Does not call the kernel, so another thread may call it during this time.
  void judge();
  /// Returns whether `conclude` may call the kernel again. It does so in two cases: after a
  /// statistical failure, with data from fresh seeds; and after wrong numbers with another memory
  /// order, if the order of an input is disputed.
  bool asks_again() const;
  /// Returns the report. `kernel` may be a different instance of the same kernel.
  CaseReport conclude(spec::Implementation<Op>& kernel);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace assay::conformance
