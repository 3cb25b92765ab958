#pragma once

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "assay/conformance/judge/exact.hpp"
#include "assay/conformance/judge/examination.hpp"
#include "assay/conformance/report/printable.hpp"
#include "assay/fixtures/record.hpp"
#include "judge/running.hpp"

namespace assay::conformance {
namespace detail {

constexpr double rerun_limit = 4e9;  // multiply-adds above which determinism is not tested
constexpr const char* no_argument_checks = "the implementation does not offer to check arguments";

template <class Op>
const spec::Constraint<Op>* row_of(const std::string& violation) {
  const std::string id = violation.substr(0, violation.find(':'));
  for (const auto& row : Op::constraints())
    if (row.id == id) return &row;
  return nullptr;
}

/// Whether a code is one that the documents give a refusal of arguments.
constexpr bool is_documented(spec::Status status) {
  return status == spec::Status::param_nullptr || status == spec::Status::param_invalid;
}

/// Verdict on a refusal of a call that breaks `row`.
template <class Op>
Verdict refusal(const spec::Constraint<Op>& row, const spec::Rejected& answer, CaseReport& report) {
  add_note(report, "status", "refused with " + describe(answer.status()) + ": " + answer.what());
  if (answer.status() == spec::Status::success) return Verdict::rejected_wrongly;
  if (row.status.any)
    return is_documented(answer.status()) ? Verdict::rejected_as_specified
                                          : Verdict::rejected_other_code;
  if (answer.status() == row.status.code) return Verdict::rejected_as_specified;
  add_note(report, "status", "the documents name " + describe(row.status.code));
  return Verdict::rejected_wrongly;
}

/// Whether the kernel has a phase 1. One that fails to say so is asked, and judged by what it does
/// then.
template <class Op>
bool checks_arguments(const spec::Implementation<Op>& kernel) {
  try {
    return kernel.checks_arguments();
  } catch (...) {
    return true;
  }
}

/// The report of a case that phase 1 alone would judge, where the kernel has none. Nothing is asked
/// of the kernel.
template <class Op>
std::optional<CaseReport> without_argument_checks(const Case<Op>& c,
                                                  const spec::Implementation<Op>& kernel) {
  if ((c.violate.empty() && c.track != Track::phase1) || checks_arguments(kernel))
    return std::nullopt;
  CaseReport report = blank_report(c);
  report.implementation = kernel.name();
  if (const auto* row = row_of<Op>(c.violate)) report.violated_row = row->id;
  report.verdict = Verdict::not_applicable;
  add_note(report, "note", no_argument_checks);
  return report;
}

/// A call that breaks a row: only phase 1 is asked.
template <class Op>
CaseReport examine_violation(const Case<Op>& c, spec::Implementation<Op>& kernel) {
  const spec::Call<Op> call = call_of(c);  // refuses what breaks no row
  CaseReport report = blank_report(c);
  report.implementation = kernel.name();
  const spec::Constraint<Op>* row = row_of<Op>(c.violate);
  report.violated_row = row->id;
  const Answer answer = answer_of([&] { kernel.check(call); });
  if (answer.failure) {
    report.verdict = *answer.failure;
    add_note(report, "status", answer.text);
  } else if (answer.refusal) {
    report.verdict = refusal(*row, *answer.refusal, report);
  } else {
    report.verdict = Verdict::accepted_wrongly;
    add_note(report, "status",
             std::string(row->id) + " is broken (" + c.violate +
                 ") and phase 1 accepted the call: " + std::string(row->statement));
  }
  if (!row->binds(c.surface, c.upstream)) {
    add_note(report, "note",
             "the row is " + std::string(spec::to_string(row->standing_on(c.surface))) +
                 (row->standing == spec::Standing::disputed
                      ? ""
                      : "'s alone, which --upstream=off leaves open") +
                 ": reported, no verdict");
    report.verdict = Verdict::not_applicable;
  }
  return report;
}

/// Two runs of a kernel that promises a fixed order give the same bytes.
template <class Op>
void check_determinism(const Case<Op>& c, const typename Op::Inputs& inputs,
                       spec::Implementation<Op>& kernel, const typename Op::Outputs& first,
                       CaseReport& report) {
  if (multiply_adds(c.problem) > rerun_limit)
    return add_note(report, "note",
                    "determinism not tested: the case is too large for a second run");
  const Run<Op> second = run_once(c, inputs, kernel);
  if (second.failure) {
    report.verdict = *second.failure;
    for (Finding finding : second.findings) {
      finding.text = "second run: " + finding.text;
      report.findings.push_back(std::move(finding));
    }
    return;
  }
  const auto once = all_tensors(first), again = all_tensors(second.outputs);
  for (std::size_t k = 0; k < once.size(); ++k) {
    if (once[k].tensor->bytes == again[k].tensor->bytes) continue;
    report.findings.push_back({.rule = "determinism",
                               .tensor = once[k].name,
                               .text = std::string("two runs differ in ") + once[k].name +
                                       " although a fixed order is declared"});
    if (contribution(report.verdict) != ExitCode::nonconformant)
      report.verdict = Verdict::nondeterministic;
  }
}

/// Row ids whose accept side a conforming case exercises.
template <class Op>
std::vector<std::string> exercised_rows(const spec::Call<Op>& call) {
  std::vector<std::string> ids;
  for (const auto& row : Op::constraints())
    if (row.has(spec::Side::accept) && row.applies(call) && row.holds(call))
      ids.emplace_back(row.id);
  return ids;
}

/// One run and its judgement, without confirmation.
template <class Op>
CaseReport examine_values(Examination<Op>& examination, spec::Implementation<Op>& kernel) {
  const Case<Op>& c = examination.examined();
  const spec::NumericsProfile profile = numerics_of(kernel, c.problem);
  const typename Op::Inputs& inputs = examination.inputs(profile);
  Run<Op> run = run_once(c, inputs, kernel);
  CaseReport report = run.failure ? blank_report(c) : examination.judge(run.outputs, profile);
  report.value_case = run.failure != Verdict::not_applicable;
  report.seconds_implementation = run.seconds;
  report.metrics = asked("metrics", [&] { return kernel.metrics(); });
  for (const TensorOf& output : all_tensors(run.outputs))
    report.digests.emplace_back(output.name, fixtures::digest(*output.tensor));
  if (run.failure) {
    report.verdict = *run.failure;
    report.findings = std::move(run.findings);
    if (!report.value_case) report.findings.front().rule = "note";
    return report;
  }
  if (profile.order == spec::Order::fixed)
    check_determinism(c, inputs, kernel, run.outputs, report);
  return report;
}

/// A statistical failure that one of two fresh seeds of the geometry shows again is confirmed. If
/// both fresh seeds were judged and did not show it, the case gets the verdict that it has beside
/// the statistics.
template <class Op>
void confirm(const Case<Op>& c, spec::Implementation<Op>& kernel, CaseReport& report) {
  Verdict other = Verdict::conforms;
  for (std::uint64_t k = 1; k <= 2; ++k) {
    Case<Op> fresh = c;
    fresh.seed += k * fresh_seed_step;
    Examination<Op> again(fresh);
    const CaseReport repeated = examine_values(again, kernel);
    if (contribution(repeated.verdict) == ExitCode::not_conclusive)
      return add_note(report, "note",
                      "the fresh seed " + std::to_string(fresh.seed) +
                          " could not confirm: it is " +
                          std::string(spec::to_string(repeated.verdict)));
    if (repeated.verdict == Verdict::conforms_weak) other = Verdict::conforms_weak;
    if (contribution(repeated.verdict) != ExitCode::nonconformant) continue;
    add_note(report, "note",
             "confirmed on the fresh seed " + std::to_string(fresh.seed) + " (" +
                 std::string(spec::to_string(repeated.verdict)) +
                 "); false alarms below 1e-9 a tensor and seed");
    report.verdict = Verdict::nonconformant_statistical;
    return;
  }
  add_note(report, "note",
           "a statistical failure did not show again on two fresh seeds; its "
           "probability for a healthy kernel is below 1e-9");
  report.verdict = other;
}

/// The refusal of a call that no row forbids.
template <class Op>
CaseReport refused_legal(const Case<Op>& c, const spec::Call<Op>& call,
                         const spec::Rejected& answer) {
  CaseReport report = blank_report(c);
  const std::string question = open_question(c, call);
  report.verdict = question.empty() ? Verdict::rejected_wrongly : Verdict::not_applicable;
  add_note(report, "status",
           "phase 1 refused " + std::string(question.empty() ? "a legal call" : "the call") +
               " with " + describe(answer.status()) + ": " + answer.what());
  if (!question.empty()) add_note(report, "note", question);
  return report;
}

/// The numbers of a case whose call phase 1 accepted, confirmed on fresh seeds where chance could
/// have a part.
template <class Op>
CaseReport examine_numbers(Examination<Op>& examination, spec::Implementation<Op>& kernel) {
  CaseReport report = blank_report(examination.examined());
  try {
    report = examine_values(examination, kernel);
    if (report.verdict == Verdict::statistical_unconfirmed)
      confirm(examination.examined(), kernel, report);
  } catch (const NoLattice& reason) {
    report.verdict = Verdict::not_applicable;
    add_note(report, "note", std::string("no exact lattice for this profile: ") + reason.what());
  } catch (const spec::Misconduct& seen) {
    report.verdict = verdict_of(seen.kind());
    add_note(report, "structure", seen.what());
  } catch (const std::exception& failure) {
    report.verdict = Verdict::tool_failure;
    add_note(report, "note", std::string("the judge failed: ") + failure.what());
  }
  return report;
}

/// A legal call: phase 1, then the numbers.
template <class Op>
CaseReport examine_legal(Examination<Op>& examination, spec::Implementation<Op>& kernel) {
  const Case<Op>& c = examination.examined();
  const spec::Call<Op> call = call_of(c);
  std::optional<std::string> reason;
  const Answer answer = answer_of([&] {
    reason = kernel.unsupported(call);
    if (!reason) kernel.check(call);
  });
  if (answer.refusal) return refused_legal(c, call, *answer.refusal);
  CaseReport report = blank_report(c);
  if (answer.failure) {
    report.verdict = *answer.failure;
    add_note(report, "status", answer.text);
    return report;
  }
  if (reason) {
    report.verdict = Verdict::not_applicable;
    add_note(report, "note", not_offered(*reason));
    return report;
  }
  if (c.track == Track::phase1)
    report.verdict = Verdict::conforms;
  else
    report = examine_numbers(examination, kernel);
  if (report.verdict == Verdict::conforms) report.accepted_rows = exercised_rows(call);
  if (const std::string question = open_question(c, call);
      !question.empty() && report.verdict != Verdict::not_applicable)
    add_note(report, "note", "accepted; " + question);
  return report;
}

}  // namespace detail

template <class Op>
CaseReport examine(Examination<Op>& examination, spec::Implementation<Op>& kernel) {
  const auto start = std::chrono::steady_clock::now();
  const Case<Op>& c = examination.examined();
  auto skipped = detail::without_argument_checks(c, kernel);
  CaseReport report = skipped             ? std::move(*skipped)
                      : c.violate.empty() ? detail::examine_legal(examination, kernel)
                                          : detail::examine_violation(c, kernel);
  report.implementation = kernel.name();
  report.seconds_total = seconds_since(start);
  return report;
}

template <class Op>
CaseReport examine(const Case<Op>& c, spec::Implementation<Op>& kernel) {
  const auto start = std::chrono::steady_clock::now();
  const auto examined = [&] {
    if (auto skipped = detail::without_argument_checks(c, kernel)) return std::move(*skipped);
    if (!c.violate.empty()) return detail::examine_violation(c, kernel);
    if (c.track == Track::relation) return examine_relation(c, kernel);
    Examination<Op> examination(c);
    return examine(examination, kernel);
  };
  try {
    CaseReport report = examined();
    settle(report, [&] { kernel.settle(); });
    report = printable(std::move(report));
    report.seconds_total = seconds_since(start);
    return report;
  } catch (const std::exception& failure) {
    CaseReport report = blank_report(c);
    report.implementation = kernel.name();
    report.verdict = Verdict::tool_failure;
    add_note(report, "note", std::string("the judge failed: ") + failure.what());
    return printable(std::move(report));
  }
}

}  // namespace assay::conformance
