#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "judge/decide.hpp"
#include "judge/run_kernel.hpp"

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
/// again: judge(fresh case, report) tells the decision, `first` is that on the case itself.
template <class Op, class Judge>
Decision confirmed(const Case<Op>& c, const Decision& first, CaseReport& report, Judge&& judge) {
  const auto noted = [&](const std::string& text) {
    add_note(report, FindingRule::note, text);
    return first.evidence + "; " + text;
  };
  for (std::uint64_t k = 1; k <= 2; ++k) {
    Case<Op> fresh = c;
    fresh.seed += k * fresh_seed_step;
    CaseReport again;
    if (contribution(judge(fresh, again)) == ExitCode::nonconformant)
      return {first.rule(), Ground::confirmed,
              noted("confirmed on the fresh seed " + std::to_string(fresh.seed))};
  }
  return {Rule::fresh_seeds, noted("the difference did not show again on two fresh seeds")};
}

/// The report of a case whose decision judge(case, report) makes, confirmed on fresh seeds where it
/// is statistical; whatever escapes from the kernel is a verdict, too.
template <class Op, class Judge>
CaseReport related(const Case<Op>& c, spec::Implementation<Op>& kernel, Judge&& judge) {
  CaseReport report = blank_report(c);
  report.implementation = kernel.name();
  const auto fail = [&](Decision decision) {
    decide(report, std::move(decision), FindingRule::status);
  };
  try {
    if (const auto reason = kernel.unsupported(call_of(c))) {
      fail(not_offered(*reason));
      return report;
    }
    report.verdict = summed_up(judge(c, report), report);
    if (report.verdict == Verdict::statistical_unconfirmed)
      report.verdict = confirmed(c, report.verdict, report, judge);
    report.value_case = report.verdict != Verdict::not_applicable;
  } catch (const Incomparable& reason) {
    fail({Rule::open_question, reason.what()});
  } catch (const spec::Unsupported& reason) {
    fail(not_offered(reason.what()));
  } catch (const spec::Rejected& answer) {
    fail({Rule::legal_call, Ground::refused,
          std::string("a run of the relation was refused: ") + answer.what()});
  } catch (const spec::ImplementationFault& seen) {
    fail(decision_of(seen, "a run of the relation: "));
  } catch (const spec::NotAsked&) {
    throw;
  } catch (const std::exception& failure) {
    fail({Rule::conduct, Ground::died,
          std::string("a run of the relation threw: ") + failure.what()});
  } catch (...) {
    fail({Rule::conduct, Ground::died,
          "a run of the relation threw something that is no std::exception"});
  }
  return report;
}

}  // namespace assay::conformance
