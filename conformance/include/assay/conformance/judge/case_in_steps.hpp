#pragma once

#include <memory>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/result/case_report.hpp"
#include "assay/spec/implementation.hpp"

namespace assay::conformance {

/// One case of one kernel in three steps: call, judge, conclude. Each is taken once, in this order,
/// so the judge can work on a case while the kernel runs the next one. With a prepared case made
/// for this case alone, references are computed in `judge`.
template <class Op>
class CaseInSteps {
 public:
  /// `made`, if there is one, was made of this case ahead, and its time counts as the case's.
  explicit CaseInSteps(Case<Op> c, std::unique_ptr<PreparedCase<Op>> made = nullptr);
  /// The same, with a prepared case that serves other kernels, too, and outlives this.
  explicit CaseInSteps(PreparedCase<Op>& prepared);
  ~CaseInSteps();
  CaseInSteps(CaseInSteps&&) noexcept;

  /// Makes the first calls of the kernel: phase 1, one run, and a second run if it declares a fixed
  /// order and the case is small enough. Relations and violations are judged here as well.
  void call(spec::Implementation<Op>& kernel);
  /// Judges the answers. Asks no kernel: may be done on any thread, while others are called.
  void judge();
  /// Returns whether `conclude` may call the kernel again: with data of fresh seeds after a
  /// statistical failure, with disputed inputs read otherwise after wrong numbers.
  bool asks_again() const;
  /// The report. The kernel may be another instance of the one that was called.
  CaseReport conclude(spec::Implementation<Op>& kernel);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace assay::conformance
