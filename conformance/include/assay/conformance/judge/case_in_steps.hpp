#pragma once

#include <memory>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/judge/examination.hpp"
#include "assay/conformance/result/case_report.hpp"
#include "assay/spec/implementation.hpp"

namespace assay::conformance {

/// One case of one kernel, in steps that are taken once each and in this order. So the judge works
/// on a case while the kernel runs the next one, and no reference value of a case exists before
/// `call` has returned.
template <class Op>
class CaseInSteps {
 public:
  /// `made`, if there is one, was made of this case ahead, and its time counts as the case's.
  explicit CaseInSteps(Case<Op> c, std::unique_ptr<Examination<Op>> made = nullptr);
  /// The same, with an examination that serves other kernels, too, and outlives this.
  explicit CaseInSteps(Examination<Op>& examination);
  ~CaseInSteps();
  CaseInSteps(CaseInSteps&&) noexcept;

  /// Asks the kernel all that does not depend on the judgement: phase 1, one run, and a second one
  /// where it promises a fixed order.
  void call(spec::Implementation<Op>& kernel);
  /// Judges the answers. Asks no kernel: may be done on any thread, while others are called.
  void judge();
  /// Returns whether `conclude` asks the kernel again: data of fresh seeds after a statistical
  /// failure, other readings of disputed inputs after wrong numbers.
  bool asks_again() const;
  /// The report. The kernel may be another instance of the one that was called.
  CaseReport conclude(spec::Implementation<Op>& kernel);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace assay::conformance
