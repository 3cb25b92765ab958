#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "assay/conformance/judge/case_in_steps.hpp"
#include "assay/conformance/result/printable.hpp"
#include "judge/judge_case.hpp"
#include "judge/readings.hpp"

namespace assay::conformance {

template <class Op>
struct CaseInSteps<Op>::State {
  Case<Op> c;
  std::unique_ptr<PreparedCase<Op>> own;       ///< owns the data of the case
  PreparedCase<Op>* prepared = nullptr;        ///< set if the case has output values to judge
  std::optional<detail::Answers<Op>> answers;  ///< not yet judged
  std::optional<CaseReport> report;            ///< the report on the steps that are finished
  bool is_accepted = false;                    ///< phase 1 accepted a legal call
  bool has_numbers = false;                    ///< the report contains a decision on output values
  std::optional<spec::ImplementationFault> afterwards;  ///< fault after the last answer
  std::string implementation;
  double seconds = 0;

  void call(spec::Implementation<Op>& kernel);
  void judge();
  void conclude(spec::Implementation<Op>& kernel);
  /// Waits until the kernel has finished work that it continues after its answer.
  void settle(spec::Implementation<Op>& kernel);
  /// Runs a step and adds its time to the time of the case. If the step throws, the judge itself
  /// has failed, not the kernel.
  template <class Step>
  void take(const Step& step);
};

template <class Op>
CaseInSteps<Op>::CaseInSteps(Case<Op> c, std::unique_ptr<PreparedCase<Op>> made)
    : state_(std::make_unique<State>()) {
  state_->c = std::move(c);
  if (made) state_->seconds = made->seconds();
  state_->own = std::move(made);
  state_->prepared = state_->own.get();
}
template <class Op>
CaseInSteps<Op>::CaseInSteps(PreparedCase<Op>& prepared) : state_(std::make_unique<State>()) {
  state_->c = prepared.judged_case();
  state_->prepared = &prepared;
}
template <class Op>
CaseInSteps<Op>::~CaseInSteps() = default;
template <class Op>
CaseInSteps<Op>::CaseInSteps(CaseInSteps&&) noexcept = default;

template <class Op>
template <class Step>
void CaseInSteps<Op>::State::take(const Step& step) {
  const auto start = std::chrono::steady_clock::now();
  try {
    step();
  } catch (const std::exception& failure) {
    answers.reset();
    is_accepted = has_numbers = false;
    report = blank_report(c);
    decide(*report, detail::judge_failed(failure), FindingRule::note);
  }
  seconds += seconds_since(start);
}

template <class Op>
void CaseInSteps<Op>::State::call(spec::Implementation<Op>& kernel) {
  implementation = kernel.name();
  report = detail::not_asked(c, kernel);
  if (report) return;
  if (!c.violate.empty()) {
    report = detail::judge_violation(c, kernel);
  } else if (c.track == Track::relation) {
    report = Suite<Op>::judge_relation(c, kernel);
  } else {
    report = detail::stopped_in_phase_1(c, call_of(c), kernel);
    if (report) return;
    is_accepted = true;
    if (c.track == Track::arguments) {
      report = blank_report(c);
      report->verdict = {Rule::legal_call, Ground::accepted, FactKind::phase_1_accepted};
      return;
    }
    has_numbers = true;
    try {
      if (prepared == nullptr) own = std::make_unique<PreparedCase<Op>>(c), prepared = own.get();
      answers = detail::answers_of(*prepared, kernel, nullptr);
    } catch (const std::exception&) {
      report = detail::report_of_exception(c);
    }
  }
}

template <class Op>
void CaseInSteps<Op>::State::judge() {
  if (!answers) return;
  try {
    report = detail::judged(*prepared, std::move(*answers));
  } catch (const std::exception&) {
    report = detail::report_of_exception(c);
  }
  answers.reset();
}

template <class Op>
void CaseInSteps<Op>::State::conclude(spec::Implementation<Op>& kernel) {
  if (has_numbers)
    report = read_otherwise(c, kernel, detail::confirmed(c, kernel, nullptr, std::move(*report)),
                            [&](const spec::Numerics& reading) {
                              return detail::judge_reading(*prepared, kernel, reading);
                            });
  if (is_accepted) detail::add_accepted(c, *report);
}

template <class Op>
void CaseInSteps<Op>::State::settle(spec::Implementation<Op>& kernel) {
  try {
    kernel.settle();
  } catch (const spec::ImplementationFault& seen) {
    afterwards = seen;
  }
}

template <class Op>
void CaseInSteps<Op>::call(spec::Implementation<Op>& kernel) {
  state_->take([&] {
    state_->call(kernel);
    state_->settle(kernel);
  });
}

template <class Op>
void CaseInSteps<Op>::judge() {
  state_->take([&] { state_->judge(); });
  if (!asks_again()) state_->own.reset();  // frees most of the memory
}

template <class Op>
bool CaseInSteps<Op>::asks_again() const {
  return state_->has_numbers && state_->report &&
         (state_->report->verdict == Verdict::statistical_unconfirmed ||
          are_numbers_wrong(state_->report->verdict));
}

template <class Op>
CaseReport CaseInSteps<Op>::conclude(spec::Implementation<Op>& kernel) {
  const bool asks = asks_again();
  state_->take([&] {
    state_->conclude(kernel);
    if (asks) state_->settle(kernel);
  });
  CaseReport report = std::move(*state_->report);
  report.implementation = state_->implementation;
  if (const auto& seen = state_->afterwards) {
    add_note(report, FindingRule::structure, {FactKind::quoted, seen->what()});
    if (contribution(report.verdict) != ExitCode::nonconformant)
      report.verdict = decision_of(*seen);
  }
  report = printable(std::move(report));
  report.seconds_total = state_->seconds;
  return report;
}

}  // namespace assay::conformance
