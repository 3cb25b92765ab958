#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "judge/running.hpp"

/// What the judgement of relations between runs shares, whatever the operator.
namespace assay::conformance {

/// A run that some reading of the documents forbids was refused: nothing is compared.
class Incomparable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What `act`, which runs the call of the case, gives. Errors: Incomparable for the refusal of a
/// call about which the documents leave a question open; whatever else escapes.
template <class Op, class Act>
auto comparable(const Case<Op>& c, Act&& act) {
  try {
    return act();
  } catch (const spec::Rejected& answer) {
    const std::string question = open_question(c, call_of(c));
    if (question.empty()) throw;
    throw Incomparable("a run of the relation was refused with " + describe(answer.status()) +
                       ": " + answer.what() + "; " + question);
  }
}

/// What the kernel makes of the case's problem with these inputs.
/// Errors: spec::Rejected, Incomparable, and whatever else escapes from the kernel.
template <class Op>
typename Op::Outputs related_run(const Case<Op>& c, const typename Op::Inputs& inputs,
                                 spec::Implementation<Op>& kernel) {
  const spec::Call<Op> call = call_of(c);
  // Lent as a copy: a kernel that writes into it spoils no other run.
  const typename Op::Inputs lent = inputs;
  return comparable(c, [&] {
    kernel.check(call);
    typename Op::Outputs outputs = make_outputs(c);
    kernel.run_call(call, c.problem, lent, outputs);
    return outputs;
  });
}

/// A difference beyond the probabilistic tolerance counts if one of two fresh seeds shows one
/// again: judge(fresh case, report) tells the verdict.
template <class Op, class Judge>
Verdict confirmed(const Case<Op>& c, CaseReport& report, Judge&& judge) {
  for (std::uint64_t k = 1; k <= 2; ++k) {
    Case<Op> fresh = c;
    fresh.seed += k * fresh_seed_step;
    CaseReport again;
    if (contribution(judge(fresh, again)) == ExitCode::nonconformant) {
      add_note(report, "note", "confirmed on the fresh seed " + std::to_string(fresh.seed));
      return Verdict::nonconformant_statistical;
    }
  }
  add_note(report, "note", "the difference did not show again on two fresh seeds");
  return Verdict::conforms;
}

/// The report of a case whose verdict judge(case, report) finds, confirmed on fresh seeds where it
/// is statistical; whatever escapes from the kernel is a verdict, too.
template <class Op, class Judge>
CaseReport related(const Case<Op>& c, spec::Implementation<Op>& kernel, Judge&& judge) {
  CaseReport report = blank_report(c);
  report.implementation = kernel.name();
  const auto fail = [&](Verdict verdict, const std::string& text) {
    report.verdict = verdict;
    add_note(report, "status", text);
  };
  try {
    if (const auto reason = kernel.unsupported(call_of(c))) {
      fail(Verdict::not_applicable, not_offered(*reason));
      return report;
    }
    report.verdict = judge(c, report);
    if (report.verdict == Verdict::statistical_unconfirmed)
      report.verdict = confirmed(c, report, judge);
    report.value_case = report.verdict != Verdict::not_applicable;
  } catch (const Incomparable& reason) {
    fail(Verdict::not_applicable, reason.what());
  } catch (const spec::Unsupported& reason) {
    fail(Verdict::not_applicable, not_offered(reason.what()));
  } catch (const spec::Rejected& answer) {
    fail(Verdict::rejected_wrongly,
         std::string("a run of the relation was refused: ") + answer.what());
  } catch (const spec::Misconduct& seen) {
    fail(verdict_of(seen.kind()), std::string("a run of the relation: ") + seen.what());
  } catch (const std::exception& failure) {
    fail(Verdict::crash, std::string("a run of the relation threw: ") + failure.what());
  } catch (...) {
    fail(Verdict::crash, "a run of the relation threw something that is no std::exception");
  }
  return report;
}

}  // namespace assay::conformance
