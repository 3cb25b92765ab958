#include "operators/flash_attention_score_grad_relations.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>

#include "operators/flash_attention_score_grad_bound.hpp"
#include "operators/flash_attention_score_grad_cascade.hpp"

namespace assay::conformance::flash {
namespace {

using Kernel = spec::Implementation<Op>;

constexpr std::uint64_t fresh_seed_step = 0x9e3779b97f4a7c15u;

FlashCase case_of(const Trial& trial) {
  FlashCase c{.problem = trial.problem, .surface = surface_of(trial.problem)};
  c.inputs = trial.inputs, c.outputs = trial.outputs;
  return c;
}

/// What the kernel makes of a trial. Errors: spec::Rejected, and whatever else escapes from the kernel.
Gradients run(const Trial& trial, Kernel& kernel) {
  const FlashCase c = case_of(trial);
  kernel.check(call_of(c));
  Op::Outputs outputs = make_outputs(c);
  kernel.run(trial.problem, inputs_of(trial), outputs);
  return gradients_of(trial.problem, outputs);
}

/// Tolerances of every element of a run.
struct Tolerances {
  Gradients tau, tau_det;
  bool consistent = true;
};

Tolerances tolerances(const Trial& trial, const spec::NumericsProfile& profile) {
  const Op::Inputs inputs = inputs_of(trial);
  const Dense dense(trial.problem, inputs);
  const Arithmetic arithmetic(profile, trial.problem.dtype);
  const AllRowTerms rows = row_terms(dense, arithmetic);
  const JudgedRows all{ascending(0, dense.queries.rows()), ascending(0, dense.keys.rows())};
  Tolerances result;
  result.consistent = rows.consistent;
  const auto store = [&](const Expectation& e, std::vector<double>& tau, std::vector<double>& det) {
    tau = e.tau, det = e.tau_det;
    for (std::size_t k = 0; k < tau.size(); ++k) {
      const bool exempt = e.exempt[k / static_cast<std::size_t>(e.dim())] != 0;
      tau[k] = exempt ? std::numeric_limits<double>::infinity() : tau[k] + e.radius[k];
      det[k] = exempt ? std::numeric_limits<double>::infinity() : det[k] + e.radius[k];
    }
  };
  const std::vector<Expectation> e = expectations(dense, arithmetic, rows, all);
  store(e[0], result.tau.dq, result.tau_det.dq);
  store(e[1], result.tau.dk, result.tau_det.dk);
  store(e[2], result.tau.dv, result.tau_det.dv);
  if (e.size() == 3) return result;
  store(e[3], result.tau.dq_rope, result.tau_det.dq_rope);
  store(e[4], result.tau.dk_rope, result.tau_det.dk_rope);
  return result;
}

/// Two sets of gradients side by side, tensor by tensor.
struct Compared {
  const char* name;
  std::vector<double> Gradients::*member;
  spec::Extents (*extents)(const Op::Problem&);
};
constexpr Compared every_tensor[] = {{"dq", &Gradients::dq, spec::query_extents},
                                     {"dk", &Gradients::dk, spec::key_extents},
                                     {"dv", &Gradients::dv, spec::value_extents},
                                     {"dq_rope", &Gradients::dq_rope, spec::query_rope_extents},
                                     {"dk_rope", &Gradients::dk_rope, spec::key_rope_extents}};

Finding difference(const Relation& relation, const Op::Problem& p, const Compared& tensor,
                   std::size_t k, double actual, double predicted, double tolerance) {
  const spec::Extents e = tensor.extents(p);
  const auto element = static_cast<std::int64_t>(k);
  const spec::RowPosition row = e.position(element / e.dim);
  Finding f{.rule = "relation", .tensor = tensor.name, .b = row.b, .n = row.n, .s = row.s,
            .d = element % e.dim, .actual = actual, .expected = predicted, .tolerance = tolerance};
  std::ostringstream text;
  text.precision(9);
  text << tensor.name << '(' << f.b << ',' << f.n << ',' << f.s << ',' << f.d << ") is " << actual
       << ", the other runs give " << predicted << ", they may differ by " << tolerance << ": "
       << relation.sentence;
  f.text = text.str();
  return f;
}

/// Compares a run with what the others predict. `tau` and `tau_det` are null where every bit must agree.
Verdict compare_runs(const Relation& relation, const Op::Problem& p, const Gradients& actual,
                     const Gradients& predicted, const Tolerances* tolerances, CaseReport& report) {
  constexpr std::int64_t most_findings = 4;
  Verdict verdict = Verdict::conforms;
  for (const Compared& tensor : every_tensor) {
    const auto &x = actual.*tensor.member, &y = predicted.*tensor.member;
    TensorReport measured{.name = tensor.name};
    std::int64_t failing = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
      const double error = std::abs(x[k] - y[k]);
      const double tau = tolerances == nullptr ? 0 : (tolerances->tau.*tensor.member)[k];
      const double det = tolerances == nullptr ? 0 : (tolerances->tau_det.*tensor.member)[k];
      if (tau > 0) measured.worst = std::max(measured.worst, error / tau);
      if (error <= tau || std::isinf(tau)) continue;
      const bool proven = !(error <= det);
      if (verdict != Verdict::nonconformant_proven)
        verdict = proven ? Verdict::nonconformant_proven : Verdict::statistical_unconfirmed;
      if (++failing <= most_findings)
        report.findings.push_back(difference(relation, p, tensor, k, x[k], y[k], tau));
    }
    if (x.empty()) continue;
    measured.elements_judged = static_cast<std::int64_t>(x.size());
    measured.rows_total = measured.rows_judged = tensor.extents(p).rows();
    report.tensors.push_back(measured);
    if (failing > most_findings)
      report.findings.push_back({.rule = "relation", .tensor = tensor.name,
                                 .text = std::string(tensor.name) + ": " + std::to_string(failing) +
                                         " of " + std::to_string(x.size()) + " elements differ"});
  }
  return verdict;
}

/// Whether some output that is due is not zero: else the relation says nothing.
bool says_something(const Gradients& g) {
  return std::ranges::any_of(every_tensor, [&](const Compared& tensor) {
    return std::ranges::any_of(g.*tensor.member, [](double x) { return x != 0; });
  });
}

Tolerances sum_of_tolerances(const Experiment& experiment, const spec::NumericsProfile& profile) {
  Tolerances total = tolerances(experiment.base, profile);
  std::vector<Gradients> tau, det;
  for (const Trial& variant : experiment.variants) {
    const Tolerances own = tolerances(variant, profile);
    total.consistent = total.consistent && own.consistent;
    tau.push_back(own.tau), det.push_back(own.tau_det);
  }
  const Gradients moved_tau = experiment.combine(tau), moved_det = experiment.combine(det);
  for (const Compared& tensor : every_tensor)
    for (std::size_t k = 0; k < (total.tau.*tensor.member).size(); ++k) {
      (total.tau.*tensor.member)[k] += (moved_tau.*tensor.member)[k];
      (total.tau_det.*tensor.member)[k] += (moved_det.*tensor.member)[k];
    }
  return total;
}

Verdict judge_once(const FlashCase& c, const Relation& relation, Kernel& kernel,
                   CaseReport& report) {
  const Experiment experiment =
      relation.prepare(trial_of(c.problem, make_inputs(c)));
  const Gradients actual = run(experiment.base, kernel);
  std::vector<Gradients> outputs;
  for (const Trial& variant : experiment.variants) outputs.push_back(run(variant, kernel));
  const Gradients predicted = experiment.combine(outputs);
  const spec::NumericsProfile profile = kernel.numerics(c.problem);
  const bool exact = relation.agreement == Agreement::bits && profile.order == spec::Order::fixed;
  if (exact) return compare_runs(relation, c.problem, actual, predicted, nullptr, report);
  const Tolerances allowed = sum_of_tolerances(experiment, profile);
  if (!allowed.consistent) {
    report.findings.push_back({.rule = "note", .text = "statistics and attention_in of some run do not "
                                                       "belong to its data, which the profile needs"});
    return Verdict::not_applicable;
  }
  const Verdict verdict =
      compare_runs(relation, c.problem, actual, predicted, &allowed, report);
  if (verdict != Verdict::conforms || outputs.empty() || says_something(actual)) return verdict;
  report.findings.push_back({.rule = "note", .text = "every gradient is zero: the relation says nothing"});
  return Verdict::vacuous;
}

using Judge = std::function<Verdict(const FlashCase&, CaseReport&)>;

/// Errors: std::invalid_argument for an unknown relation.
Judge judge_of(const FlashCase& c, Kernel& kernel) {
  if (c.relation == cascade_name)
    return [&kernel](const FlashCase& own, CaseReport& report) {
      return judge_cascade(own, kernel, report);
    };
  return [&kernel, &asked = relation(c.relation)](const FlashCase& own, CaseReport& report) {
    return judge_once(own, asked, kernel, report);
  };
}

/// A difference beyond the probabilistic tolerance counts if one of two fresh seeds shows one again.
Verdict confirmed(const FlashCase& c, const Judge& judge, CaseReport& report) {
  for (std::uint64_t k = 1; k <= 2; ++k) {
    FlashCase fresh = c;
    fresh.seed += k * fresh_seed_step;
    CaseReport again;
    if (contribution(judge(fresh, again)) == ExitCode::nonconformant) {
      report.findings.push_back({.rule = "note", .text = "confirmed on the fresh seed " +
                                                         std::to_string(fresh.seed)});
      return Verdict::nonconformant_statistical;
    }
  }
  report.findings.push_back({.rule = "note", .text = "the difference did not show again on two fresh seeds"});
  return Verdict::conforms;
}

}  // namespace

std::vector<const Relation*> relations() {
  std::vector<const Relation*> all;
  for (const auto group : {rearranging_relations(), arithmetic_relations(), spelling_relations()})
    for (const Relation& relation : group) all.push_back(&relation);
  return all;
}

const Relation& relation(std::string_view name) {
  std::string known;
  for (const Relation* relation : relations()) {
    if (relation->name == name) return *relation;
    known += (known.empty() ? "" : ", ") + std::string(relation->name);
  }
  throw std::invalid_argument("--relation=" + std::string(name) + ": accepted: " + known + ", " +
                              std::string(cascade_name));
}

std::vector<FlashCase> relation_cases(std::uint64_t seed) {
  std::vector<FlashCase> cases;
  for (const Relation* relation : relations())
    for (const Op::Problem& problem : relation->problems()) {
      FlashCase c{.problem = problem, .surface = surface_of(problem), .track = Track::relation};
      c.relation = relation->name;
      c.seed = seed + cases.size();
      cases.push_back(c);
    }
  for (FlashCase c : cascade_cases()) {
    c.seed = seed + cases.size();
    cases.push_back(std::move(c));
  }
  return cases;
}

CaseReport examine_relation(const FlashCase& c, Kernel& kernel) {
  CaseReport report = blank_report(c);
  report.implementation = kernel.name();
  const Judge judge = judge_of(c, kernel);
  const auto fail = [&](Verdict verdict, const std::string& text) {
    report.verdict = verdict;
    report.findings.push_back({.rule = "status", .text = text});
  };
  try {
    if (const auto reason = kernel.unsupported(call_of(c))) {
      fail(Verdict::not_applicable, "the implementation does not offer this: " + *reason);
      return report;
    }
    report.verdict = judge(c, report);
    report.value_case = true;
    if (report.verdict == Verdict::statistical_unconfirmed)
      report.verdict = confirmed(c, judge, report);
  } catch (const spec::Rejected& answer) {
    fail(Verdict::rejected_wrongly, std::string("a run of the relation was refused: ") + answer.what());
  } catch (const std::exception& failure) {
    fail(Verdict::crash, std::string("a run of the relation threw: ") + failure.what());
  }
  return report;
}

}  // namespace assay::conformance::flash
