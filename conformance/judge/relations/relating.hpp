#pragma once

#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "judge/decide.hpp"
#include "judge/run_kernel.hpp"

/// Functions that judge relations between runs of one kernel, for any operator.
namespace assay::conformance {

/// Thrown if a kernel refuses a run for which the documentation is ambiguous. The kernel may refuse
/// such a call, so the runs are not compared.
class Incomparable : public std::exception {
 public:
  explicit Incomparable(Fact refusal) : refusal_(std::move(refusal)) {}
  const Fact& refusal() const { return refusal_; }

 private:
  Fact refusal_;
};

/// Calls `act`, which runs the kernel on the call of the case, and returns the result. Errors:
/// Incomparable if the kernel refuses a call that the documentation neither allows nor forbids. All
/// other exceptions pass through.
template <class Op, class Act>
auto comparable(const Case<Op>& c, Act&& act) {
  try {
    return act();
  } catch (const spec::Rejected& answer) {
    const std::vector<Fact> questions = open_questions(c, call_of(c));
    if (questions.empty()) throw;
    throw Incomparable(
        {FactKind::related_run_refused_open, describe(answer.status()), answer.what(), questions});
  }
}

/// Runs the kernel on the problem of the case with these inputs, and returns its outputs. Errors:
/// spec::Rejected, Incomparable, and any other exception of the kernel.
template <class Op>
typename Op::Outputs related_run(const Case<Op>& c, const typename Op::Inputs& inputs,
                                 spec::Implementation<Op>& kernel) {
  const spec::Call<Op> call = call_of(c);
  // The kernel gets a copy, because it may write to its inputs, and the other runs need the
  // original.
  const typename Op::Inputs borrowed = inputs;
  return comparable(c, [&] {
    kernel.check(call);
    typename Op::Outputs outputs = make_outputs(c);
    kernel.run_call(call, c.problem, borrowed, outputs);
    return outputs;
  });
}

/// Repeats a case with two new random seeds if the difference of its runs exceeds only the
/// probabilistic tolerance. The difference counts as a failure if one of the repetitions fails too.
/// judge(fresh case, report) returns a decision; `first` is the decision about the original case.
template <class Op, class Judge>
Decision confirmed(const Case<Op>& c, const Decision& first, CaseReport& report, Judge&& judge) {
  const auto noted = [&](const Fact& fact) {
    add_note(report, FindingRule::note, fact);
    return Fact(FactKind::several, first.fact, fact);
  };
  for (std::uint64_t k = 1; k <= 2; ++k) {
    Case<Op> fresh = c;
    fresh.seed += k * fresh_seed_step;
    CaseReport again;
    if (contribution(judge(fresh, again)) == ExitCode::nonconformant)
      return {first.rule(), Ground::confirmed,
              noted({FactKind::difference_on_fresh_seed, std::to_string(fresh.seed)})};
  }
  return {Rule::fresh_seeds, noted(FactKind::difference_not_repeated)};
}

/// Returns the report of a case with the decision that judge(case, report) returns. A statistical
/// failure is repeated with new seeds. If the kernel throws an exception, the verdict describes it.
template <class Op, class Judge>
CaseReport related(const Case<Op>& c, spec::Implementation<Op>& kernel, Judge&& judge) {
  CaseReport report = blank_report(c);
  report.implementation = kernel.name();
  const auto fail = [&](Decision decision) {
    decide(report, std::move(decision), FindingRule::status);
  };
  try {
    if (const auto reason = kernel.unsupported(call_of(c))) {
      decide(report, not_offered(*reason), FindingRule::status, *reason);
      return report;
    }
    report.verdict = judge(c, report);
    if (report.verdict == Verdict::statistical_unconfirmed)
      report.verdict = confirmed(c, report.verdict, report, judge);
    report.value_case = report.verdict != Verdict::not_applicable;
  } catch (const Incomparable& reason) {
    fail({Rule::open_question, reason.refusal()});
  } catch (const spec::Unsupported& reason) {
    decide(report, not_offered(reason.what()), FindingRule::status, reason.what());
  } catch (const spec::Rejected& answer) {
    fail({Rule::legal_call, Ground::refused, {FactKind::related_run_refused, answer.what()}});
  } catch (const spec::ImplementationFault& seen) {
    fail(decision_of(seen, FactKind::related_run_failed));
  } catch (const spec::NotAsked&) {
    throw;
  } catch (const std::exception& failure) {
    fail({Rule::conduct, Ground::died, {FactKind::related_run_threw, failure.what()}});
  } catch (...) {
    fail({Rule::conduct, Ground::died, FactKind::related_run_threw_no_exception});
  }
  return report;
}

}  // namespace assay::conformance
