#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "assay/conformance/judge/case_in_steps.hpp"
#include "assay/conformance/judge/exact.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/result/printable.hpp"
#include "assay/fixtures/record.hpp"
#include "assay/spec/takes_formulas.hpp"
#include "case/user_formula.hpp"
#include "judge/readings.hpp"
#include "judge/run_kernel.hpp"

namespace assay::conformance {
namespace detail {

constexpr double rerun_limit = 4e9;  // multiply-adds; larger cases are not run twice

template <class Op>
const spec::Requirement<Op>* requirement_of(const std::string& violation) {
  const std::string id = violation.substr(0, violation.find(':'));
  for (const auto& requirement : Op::requirements())
    if (requirement.id == id) return &requirement;
  return nullptr;
}

/// Returns whether the documentation names this status code for invalid arguments.
constexpr bool is_documented(spec::Status status) {
  return status == spec::Status::param_nullptr || status == spec::Status::param_invalid;
}

/// Returns the decision about a kernel that correctly refused a forbidden call. `expected`: the
/// status that the documentation requires.
inline Decision refusal(const spec::ExpectedStatus& expected, const spec::Rejected& answer,
                        CaseReport& report) {
  const spec::Status status = answer.status();
  Refusal seen{.status = static_cast<std::int32_t>(status)};
  Ground ground = Ground::documented_status;
  if (status == spec::Status::success) {
    ground = Ground::wrong_status;
  } else if (expected.any) {
    if (!is_documented(status)) ground = Ground::other_status;
  } else if (status != expected.code) {
    ground = Ground::wrong_status;
    seen.documented = static_cast<std::int32_t>(expected.code);
  }
  report.findings.push_back(
      {.rule = FindingRule::status, .refusal = seen, .message = answer.what()});
  return {Rule::forbidden_call, ground, {}};
}

/// Returns whether the kernel has a phase 1 (a check of the arguments). If the query throws,
/// returns true, so that the call of phase 1 reports the fault.
template <class Op>
bool checks_arguments(const spec::Implementation<Op>& kernel) {
  try {
    return kernel.checks_arguments();
  } catch (...) {
    return true;
  }
}

/// If the case needs phase 1 (the check of the arguments), a formula of the user, its gradients or
/// a part, and the kernel does not have it, returns a report that says so. Runs nothing.
template <class Op>
std::optional<CaseReport> not_asked(const Case<Op>& c, spec::Implementation<Op>& kernel) {
  const std::string gradients = gradients_of_formula(c.variant);
  const auto* const takes = spec::takes_formulas(kernel);
  const bool needs_checks = !c.violate.empty() || c.track == Track::arguments;
  Fact lacking;
  if (needs_checks && !checks_arguments(kernel))
    lacking = FactKind::no_argument_checks;
  else if (is_formula(c.variant) && takes == nullptr)
    lacking = FactKind::no_formulas;
  else if (!gradients.empty() && !takes->has_formula_gradients())
    lacking = Fact(FactKind::not_offered, gradients);
  else if (!c.part.empty() && spec::takes_parts(kernel) == nullptr)
    lacking = FactKind::no_parts;
  if (lacking.empty()) return std::nullopt;
  CaseReport report = blank_report(c);
  report.implementation = kernel.name();
  if (const auto* requirement = requirement_of<Op>(c.violate))
    report.violated_requirement = requirement->id;
  decide(report, {Rule::not_offered, lacking}, FindingRule::note);
  return report;
}

/// If the kernel does not support the legal version of a forbidden call, returns the reason;
/// otherwise nothing.
template <class Op>
std::optional<std::string> unsupported_unbroken(const Case<Op>& c,
                                                spec::Implementation<Op>& kernel) {
  Case<Op> legal = c;
  legal.violate.clear();
  std::optional<std::string> reason;
  answer_of([&] { reason = kernel.unsupported(call_of(legal)); });  // check() shows a fault, too
  return reason;
}

/// Judges a call that breaks a requirement. Only phase 1 (the check of the arguments) runs. If the
/// kernel does not support the legal version of the call, it has no reason to check the forbidden
/// one.
template <class Op>
CaseReport judge_violation(const Case<Op>& c, spec::Implementation<Op>& kernel) {
  const spec::Call<Op> call = call_of(c);  // throws if the call breaks no requirement
  CaseReport report = blank_report(c);
  report.implementation = kernel.name();
  const spec::Requirement<Op>* requirement = requirement_of<Op>(c.violate);
  report.violated_requirement = requirement->id;
  if (const auto reason = unsupported_unbroken(c, kernel)) {
    decide(report, not_offered(*reason), FindingRule::note, *reason);
    return report;
  }
  const Answer answer = answer_of([&] { kernel.check(call); });
  if (answer.failure) {
    decide(report, *answer.failure, FindingRule::status);
  } else if (answer.refusal) {
    report.verdict = refusal(requirement->status_on(c.entry_point), *answer.refusal, report);
  } else {
    decide(report,
           {Rule::forbidden_call,
            Ground::accepted,
            {FactKind::broken_and_accepted, requirement->id, c.violate, requirement->statement}},
           FindingRule::status);
  }
  if (!requirement->binds(c.entry_point, c.policy())) {
    const spec::Standing standing = requirement->standing_on(c.entry_point);
    const Fact open = standing == spec::Standing::upstream
                          ? Fact(FactKind::upstream_ignored, requirement->id)
                          : Fact(FactKind::requirement_binds_not, requirement->id, standing);
    // After a refusal, the verdict contains no statement about the cause. The refusal itself is
    // then a finding.
    report.verdict = {Rule::open_question, {FactKind::several, open, report.verdict.fact}};
    add_note(report, FindingRule::note, open);
  }
  return report;
}

/// The result of a second run. It is needed only if the kernel promises a fixed order of additions.
struct SecondRun {
  std::optional<Decision> failure;     ///< why the run has no outputs
  std::vector<Finding> findings = {};  ///< one per differing output, or one failure
  bool changed_inputs = false;
};

/// Runs the kernel a second time. The outputs must have the same bytes as in the `first` run. The
/// outputs are compared immediately, so that they need not be stored.
template <class Op>
SecondRun run_again(const Case<Op>& c, const Borrowed<Op>& borrowed,
                    spec::Implementation<Op>& kernel, const typename Op::Outputs& first) {
  if (Suite<Op>::multiply_adds(c.problem) > rerun_limit)
    return {{}, {{.rule = FindingRule::note, .fact = FactKind::no_second_run}}};
  Run<Op> run = run_once(c, borrowed, kernel);
  SecondRun second{.failure = std::move(run.failure),
                   .findings = std::move(run.findings),
                   .changed_inputs = run.changed_inputs};
  if (second.failure) {
    second.failure->fact = {FactKind::second_run, second.failure->fact};
    for (Finding& finding : second.findings) finding.fact = {FactKind::second_run, finding.fact};
    return second;
  }
  const auto once = all_tensors(first), again = all_tensors(run.outputs);
  for (std::size_t k = 0; k < once.size(); ++k)
    if (once[k].tensor->bytes != again[k].tensor->bytes)
      second.findings.push_back({.rule = FindingRule::determinism, .tensor = once[k].name});
  return second;
}

/// Adds the result of the second run to the report of the first run.
inline void add(SecondRun second, CaseReport& report) {
  if (second.failure) report.verdict = std::move(*second.failure);
  for (Finding& finding : second.findings) {
    if (finding.rule == FindingRule::determinism &&
        contribution(report.verdict) != ExitCode::nonconformant)
      report.verdict = {Rule::determinism, {}};
    report.findings.push_back(std::move(finding));
  }
}

/// Returns the ids of the requirements that the call tests and satisfies. If the case conforms, the
/// kernel accepts such calls.
template <class Op>
std::vector<std::string> exercised_rows(const spec::Call<Op>& call) {
  std::vector<std::string> ids;
  for (const auto& requirement : Op::requirements())
    if (requirement.is_exercised_by(call) && requirement.holds(call))
      ids.emplace_back(requirement.id);
  return ids;
}

/// Everything that a kernel returns for one case, before it is judged.
template <class Op>
struct Answers {
  spec::Numerics numerics;
  Run<Op> run;
  std::vector<spec::Metric> metrics;
  std::optional<SecondRun> second;
  Fact place;  ///< memory order of the disputed inputs, if the kernel declares it
};

/// True if the documentation contradicts itself about the memory order of outputs, not of inputs.
template <class Op>
inline constexpr bool are_outputs_disputed = std::is_same_v<
    std::integral_constant<decltype(&Suite<Op>::moved), &Suite<Op>::moved>,
    std::integral_constant<decltype(&SuiteDefaults<Op>::moved), &SuiteDefaults<Op>::moved>>;

/// Runs the kernel. Some inputs have a memory order about which the documentation contradicts
/// itself. They get the order in the numerics `reading`; if `reading` is null, the order that the
/// kernel declares. Errors: NoExactCase; spec::ImplementationFault.
template <class Op>
Answers<Op> answers_of(PreparedCase<Op>& prepared, spec::Implementation<Op>& kernel,
                       const spec::Numerics* reading) {
  const Case<Op>& c = prepared.judged_case();
  Answers<Op> answers{.numerics = numerics_of(kernel, c.problem)};
  const Asked<Op> given(c, prepared.inputs(answers.numerics),
                        reading != nullptr ? *reading : answers.numerics);
  const Borrowed<Op> borrowed(given.inputs(), kernel, prepared.borrowing());
  answers.run = run_once(given.asked(), borrowed, kernel);
  answers.metrics = asked("metrics", [&] { return kernel.metrics(); });
  if (reading != nullptr && are_outputs_disputed<Op>) answers.numerics = *reading;
  if (given.is_moved() && reading == nullptr)
    answers.place = Suite<Op>::place_of_inputs(given.asked().problem);
  if (!answers.run.failure && answers.numerics.order == spec::Order::fixed)
    answers.second = run_again(given.asked(), borrowed, kernel, answers.run.outputs);
  const bool has_changed =
      answers.run.changed_inputs || (answers.second && answers.second->changed_inputs);
  if (has_changed && !given.is_moved()) prepared.make_again();
  return answers;
}

/// Judges what the kernel returned. Does not yet repeat a statistical failure to confirm it.
template <class Op>
CaseReport judged(PreparedCase<Op>& prepared, Answers<Op> answers) {
  Run<Op>& run = answers.run;
  CaseReport report = run.failure ? blank_report(prepared.judged_case())
                                  : prepared.judge(run.outputs, answers.numerics);
  report.value_case = !run.failure && report.verdict != Verdict::not_applicable;
  report.seconds_implementation = run.seconds;
  report.metrics = std::move(answers.metrics);
  for (const TensorOf& output : all_tensors(run.outputs))
    report.digests.emplace_back(output.name, fixtures::digest(*output.tensor));
  if (run.failure) {
    report.verdict = std::move(*run.failure);
    report.findings = std::move(run.findings);
    if (report.verdict == Verdict::not_applicable) report.findings.front().rule = FindingRule::note;
    return report;
  }
  if (!answers.place.empty()) add_note(report, FindingRule::note, answers.place);
  if (answers.second) add(std::move(*answers.second), report);
  return report;
}

template <class Op>
CaseReport judge_values(PreparedCase<Op>& prepared, spec::Implementation<Op>& kernel,
                        const spec::Numerics* reading) {
  return judged(prepared, answers_of(prepared, kernel, reading));
}

/// Repeats a case that failed only statistically with two new random seeds. judge_fresh(case)
/// returns a report. The failure is confirmed if one of the two repetitions fails too. If both were
/// judged and neither failed, the case gets the verdict that it has without the statistics.
template <class Op, class JudgeFresh>
void confirm(const Case<Op>& c, CaseReport& report, JudgeFresh&& judge_fresh) {
  const Fact first = report.verdict.fact;
  Decision other(Rule::fresh_seeds, {FactKind::failure_not_repeated, first});
  for (std::uint64_t k = 1; k <= 2; ++k) {
    Case<Op> fresh = c;
    fresh.seed += k * fresh_seed_step;
    const CaseReport repeated = judge_fresh(fresh);
    if (contribution(repeated.verdict) == ExitCode::not_conclusive)
      return add_note(
          report, FindingRule::note,
          {FactKind::fresh_seed_undecided, std::to_string(fresh.seed), repeated.verdict.value()});
    if (repeated.verdict == Verdict::conforms_weak) other = repeated.verdict;
    if (contribution(repeated.verdict) != ExitCode::nonconformant) continue;
    const Fact confirmed(FactKind::fails_on_fresh_seed, std::to_string(fresh.seed),
                         repeated.verdict.value());
    add_note(report, FindingRule::note, confirmed);
    report.verdict = {
        report.verdict.rule(), Ground::confirmed, {FactKind::several, first, confirmed}};
    return;
  }
  add_note(report, FindingRule::note, FactKind::passes_on_fresh_seeds);
  report.verdict = other;
}

/// Returns the report about a kernel that refuses, in phase 1, a call that no requirement forbids.
template <class Op>
CaseReport refused_legal(const Case<Op>& c, const spec::Call<Op>& call,
                         const spec::Rejected& answer) {
  CaseReport report = blank_report(c);
  const std::vector<Fact> questions = open_questions(c, call);
  const bool is_open = !questions.empty();
  decide(report,
         refusal_of(is_open,
                    {is_open ? FactKind::phase_1_refused_open : FactKind::phase_1_refused_legal,
                     describe(answer.status()), answer.what()}),
         FindingRule::status);
  if (is_open) add_note(report, FindingRule::note, {FactKind::several, questions});
  return report;
}

inline Decision judge_failed(const std::exception& failure) {
  return {Rule::judge_failure, {FactKind::judge_failed, failure.what()}};
}

/// Converts the current exception into a report. Call it only in a catch block.
template <class Op>
CaseReport report_of_exception(const Case<Op>& c) {
  CaseReport report = blank_report(c);
  try {
    throw;
  } catch (const NoExactCase& reason) {
    decide(report, {Rule::no_exact_inputs, {FactKind::quoted, reason.what()}}, FindingRule::note);
  } catch (const spec::ImplementationFault& seen) {
    decide(report, decision_of(seen), FindingRule::structure);
  } catch (const std::exception& failure) {
    decide(report, judge_failed(failure), FindingRule::note);
  }
  return report;
}

/// If the case failed only statistically, repeats it with new random seeds and returns the report
/// with the resulting verdict. Otherwise returns the report unchanged.
template <class Op>
CaseReport confirmed(const Case<Op>& c, spec::Implementation<Op>& kernel,
                     const spec::Numerics* reading, CaseReport report) {
  try {
    if (report.verdict == Verdict::statistical_unconfirmed)
      confirm(c, report, [&](const Case<Op>& fresh) {
        PreparedCase<Op> again(fresh);
        return judge_values(again, kernel, reading);
      });
  } catch (const std::exception&) {
    return report_of_exception(c);
  }
  return report;
}

/// Judges the output values of a case after phase 1 accepted its call. The documentation
/// contradicts itself about the memory order of some inputs. They get the order in the numerics
/// `reading`.
template <class Op>
CaseReport judge_reading(PreparedCase<Op>& prepared, spec::Implementation<Op>& kernel,
                         const spec::Numerics& reading) {
  const Case<Op>& c = prepared.judged_case();
  try {
    return confirmed(c, kernel, &reading, judge_values(prepared, kernel, &reading));
  } catch (const std::exception&) {
    return report_of_exception(c);
  }
}

/// Returns a report if phase 1 refuses a legal call, or if the kernel does not support it. Returns
/// nothing if output values must be judged.
template <class Op>
std::optional<CaseReport> stopped_in_phase_1(const Case<Op>& c, const spec::Call<Op>& call,
                                             spec::Implementation<Op>& kernel) {
  std::optional<std::string> reason;
  const Answer answer = answer_of([&] {
    reason = kernel.unsupported(call);
    if (!reason) kernel.check(call);
  });
  if (answer.refusal) return refused_legal(c, call, *answer.refusal);
  if (!answer.failure && !reason) return std::nullopt;
  CaseReport report = blank_report(c);
  if (answer.failure)
    decide(report, *answer.failure, FindingRule::status);
  else
    decide(report, not_offered(*reason), FindingRule::note, *reason);
  return report;
}

/// Adds the tested requirements and the open questions to the report. The call is legal, and phase
/// 1 accepted it.
template <class Op>
void add_accepted(const Case<Op>& c, CaseReport& report) {
  const spec::Call<Op> call = call_of(c);
  if (report.verdict == Verdict::conforms) report.accepted_requirements = exercised_rows(call);
  if (const std::vector<Fact> questions = open_questions(c, call);
      !questions.empty() && report.verdict != Verdict::not_applicable)
    add_note(report, FindingRule::note, {FactKind::accepted_open, questions});
}

}  // namespace detail

template <class Op>
CaseReport judge_case(PreparedCase<Op>& prepared, spec::Implementation<Op>& kernel) {
  CaseInSteps<Op> steps(prepared);
  steps.call(kernel);
  steps.judge();
  return steps.conclude(kernel);
}

template <class Op>
CaseReport judge_case(const Case<Op>& c, spec::Implementation<Op>& kernel) {
  CaseInSteps<Op> steps(c);
  steps.call(kernel);
  steps.judge();
  return steps.conclude(kernel);
}

}  // namespace assay::conformance
