#pragma once

#include <algorithm>
#include <list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/conformance/judge/relations.hpp"
#include "assay/conformance/suite.hpp"
#include "case/limits.hpp"
#include "judge/basis.hpp"
#include "judge/readings.hpp"
#include "judge/relations/relating.hpp"
#include "judge/relations/relation.hpp"

/// Judges cases of the track `relation`, which compare several runs of one kernel, for any
/// operator.
namespace assay::conformance {

/// Returns the relation (comparison of several runs) with this name. Errors: std::invalid_argument
/// with the known names if the name is unknown.
template <class Op>
const Relation<Op>& relation_of(std::string_view name) {
  return relation_named(RelationParts<Op>::relations(), name, RelationParts<Op>::other.name);
}

/// Returns the case that describes the call of one run. It has the product (chip) of the case
/// `asked`. It also has the same entry point, if this entry point has all parameters that the run
/// needs.
template <class Op>
Case<Op> case_of(const Trial<Op>& trial, const Case<Op>& asked) {
  using Parts = RelationParts<Op>;
  Case<Op> c{.problem = trial.problem, .entry_point = asked.entry_point, .product = asked.product};
  if (!Parts::offers(c.entry_point, c.problem)) c.entry_point = Parts::entry_point_of(c.problem);
  c.inputs = trial.inputs, c.outputs = trial.outputs;
  c.upstream = asked.upstream;
  c.documents = asked.documents;
  return c;
}

/// Returns the tolerances of all elements of one run.
template <class Op>
Tolerances run_tolerances(const Case<Op>& c, const typename Op::Inputs& inputs,
                          const spec::Numerics& numerics) {
  const Arithmetic arithmetic(numerics, c.problem.dtype);
  typename Suite<Op>::Basis basis(c, inputs, arithmetic);
  Tolerances result;
  const auto append = [](std::vector<double>& to, const std::vector<double>& more) {
    to.insert(to.end(), more.begin(), more.end());
  };
  const auto expectations = [&] {
    // softmax_sum of a run is judged relative to the kernel's own softmax_max of the same run. In
    // two runs softmax_max may differ, so the two softmax_sum may differ by more than their
    // tolerances.
    if constexpr (requires { basis.expectations_of_run(); })
      return basis.expectations_of_run();
    else
      return basis.expectations();
  }();
  for (const Expectation& expectation : expectations)
    each_part(expectation, [&](const Expectation& e) {
      append(result.tau[e.name], with_radius(e.tau, e));
      append(result.tau_det[e.name], with_radius(e.tau_det, e));
    });
  // An output that is not judged has no tolerances. Its tolerances are set to zero here, because
  // the functions that combine the outputs of several runs also read them.
  visit_outputs<Op>(c.problem, [&](const ComparedOutput<Op>& output, const spec::Extents& e) {
    for (OutputValues* limits : {&result.tau, &result.tau_det})
      limits->try_emplace(std::string(output.name), static_cast<std::size_t>(e.rows() * e.dim));
  });
  result.consistent = basis.consistent();
  return result;
}

/// Compares the outputs of a run with the values predicted from the other runs. If `tolerances` is
/// null, all bits must be equal.
template <class Op>
Decision compare_runs(std::string_view sentence, const typename Op::Problem& problem,
                      const OutputValues& actual, const OutputValues& predicted,
                      const Tolerances* tolerances, CaseReport& report) {
  Decision decision = no_objection();
  visit_outputs<Op>(problem, [&](const ComparedOutput<Op>& output, const spec::Extents& extents) {
    const auto expected = predicted.find(output.name);
    if (expected == predicted.end() || expected->second.empty()) return;
    Compared compared{.tensor = output.name,
                      .actual = actual.find(output.name)->second,
                      .predicted = expected->second,
                      .tau = {},
                      .tau_det = {},
                      .extents = extents};
    if (tolerances != nullptr) {
      compared.tau = tolerances->tau.find(output.name)->second;
      compared.tau_det = tolerances->tau_det.find(output.name)->second;
    }
    decision = graver(std::move(decision), compare_numbers(compared, sentence, report));
  });
  return decision;
}

/// The runs of one case, and the tolerances for the numerics (arithmetic) that each kernel
/// declares. One object can judge any number of kernels.
template <class Op>
class PreparedRelation {
  using Kernel = spec::Implementation<Op>;
  using Parts = RelationParts<Op>;

 public:
  /// Errors: std::invalid_argument if the relation of the case is unknown.
  explicit PreparedRelation(Case<Op> c)
      : case_(std::move(c)), relation_(&relation_of<Op>(case_.relation)) {
    if (!relation_->applies(case_.problem)) return;
    const typename Op::Inputs inputs = make_inputs(case_);
    experiment_ = relation_->prepare({.problem = case_.problem,
                                      .rows = Parts::rows_of(case_.problem, inputs),
                                      .side = Parts::side_of(inputs)});
    runs_.push_back(run_of(experiment_->base));
    for (const Trial<Op>& variant : experiment_->variants) runs_.push_back(run_of(variant));
  }

  /// Runs the kernel and compares the outputs of the runs. The report contains the largest
  /// difference divided by its tolerance.
  CaseReport judge_case(Kernel& kernel) {
    return read_otherwise(
        case_, kernel, judge_reading(kernel, nullptr),
        [&](const spec::Numerics& reading) { return judge_reading(kernel, &reading); });
  }

 private:
  /// One run: the case that describes its call, and its inputs.
  struct Prepared {
    Case<Op> asked;
    typename Op::Inputs inputs;
  };

  Prepared run_of(const Trial<Op>& trial) const {
    return {case_of(trial, case_), inputs_of(trial)};
  }

  /// Runs the kernel once. The documentation contradicts itself about the memory order of some
  /// inputs. They get the order in the numerics `reading`.
  OutputValues run(const Prepared& prepared, Kernel& kernel, const spec::Numerics& reading) const {
    const Asked<Op> given(prepared.asked, prepared.inputs, reading);
    return output_values<Op>(given.asked().problem,
                             related_run(given.asked(), given.inputs(), kernel));
  }

  /// Judges the case. The documentation contradicts itself about the memory order of some inputs.
  /// They get the order in the numerics `reading` or, if `reading` is null, the order that the
  /// kernel declares.
  CaseReport judge_reading(Kernel& kernel, const spec::Numerics* reading) {
    return related(case_, kernel, [&](const Case<Op>& c, CaseReport& report) {
      if (!experiment_) return outside(relation_->domain, report);
      if (c.seed == case_.seed) return judge_once(kernel, reading, report);
      return PreparedRelation(c).judge_once(kernel, reading, report);
    });
  }

  /// Returns the allowed difference of each element: the tolerance of the base run plus the
  /// tolerance of the prediction from the variant runs.
  const Tolerances& allowed(const spec::Numerics& numerics) {
    for (const auto& [known, entry] : allowed_)
      if (known == numerics) return entry;
    Tolerances total = run_tolerances(runs_[0].asked, runs_[0].inputs, numerics);
    std::vector<OutputValues> tau, det;
    for (std::size_t k = 1; k < runs_.size(); ++k) {
      Tolerances own = run_tolerances(runs_[k].asked, runs_[k].inputs, numerics);
      total.consistent = total.consistent && own.consistent;
      tau.push_back(std::move(own.tau)), det.push_back(std::move(own.tau_det));
    }
    if (!tau.empty()) {
      total.tau = plus(std::move(total.tau), experiment_->combine(tau));
      total.tau_det = plus(std::move(total.tau_det), experiment_->combine(det));
    }
    return allowed_.emplace_back(numerics, std::move(total)).second;
  }

  /// Limit of the multiply-adds of a problem. Above this limit, computing the tolerances of all
  /// elements takes too long.
  static constexpr double most_bounded = 1e8;

  Decision judge_once(Kernel& kernel, const spec::Numerics* reading, CaseReport& report) {
    const auto does_not_apply = [&](Rule rule, FactKind kind) {
      add_note(report, FindingRule::note, kind);
      return Decision(rule, kind);
    };
    const spec::Numerics numerics = kernel.numerics(case_.problem);
    // If the relation computes the expected log-sum-exp by a formula, its rounding differs from the
    // rounding in the kernel, so exact equality cannot be required.
    const bool rounds = runs_.size() == 1 && numerics.saves == spec::Saved::lse;
    const bool exact =
        relation_->agreement == Agreement::bits && numerics.order == spec::Order::fixed && !rounds;
    if (!exact && Parts::cost_of_bounds(case_.problem) > most_bounded)
      return does_not_apply(Rule::domain, FactKind::too_large_to_relate);
    const spec::Numerics& read = reading != nullptr ? *reading : numerics;
    const auto compared = [&](OutputValues values) {
      return Parts::compared_values(std::move(values), numerics);
    };
    const OutputValues actual = compared(run(runs_[0], kernel, read));
    std::vector<OutputValues> outputs;
    for (std::size_t k = 1; k < runs_.size(); ++k) outputs.push_back(run(runs_[k], kernel, read));
    const Tolerances* limits = exact ? nullptr : &allowed(numerics);
    if (limits != nullptr && !limits->consistent)
      return does_not_apply(Rule::inconsistent_inputs, FactKind::inconsistent_runs);
    Decision decision =
        experiment_->compare
            ? experiment_->compare(actual, *limits, relation_->sentence, report)
            : compare_runs<Op>(relation_->sentence, case_.problem, actual,
                               compared(experiment_->combine(outputs)), limits, report);
    if (decision != Verdict::conforms || outputs.empty()) return decision;
    return decision_of({.are_one_run = std::ranges::all_of(
                            experiment_->variants,
                            [&](const Trial<Op>& variant) { return variant == experiment_->base; }),
                        .are_zero = are_zero(actual)},
                       report);
  }

  Case<Op> case_;
  const Relation<Op>* relation_;
  std::optional<Experiment<Op>> experiment_;  ///< empty if the relation does not hold
  std::vector<Prepared> runs_;                ///< first the base, then the variants
  std::list<std::pair<spec::Numerics, Tolerances>> allowed_;
};

template <class Op>
CaseReport judge_by_relation(const Case<Op>& c, [[maybe_unused]] spec::Implementation<Op>& kernel) {
  if constexpr (HasRelationParts<Op>)
    return PreparedRelation<Op>(c).judge_case(kernel);
  else
    throw std::invalid_argument("relation '" + c.relation + "': no relations are defined for " +
                                std::string(Op::name));
}

template <class Op>
std::vector<RelationText> relation_texts() {
  std::vector<RelationText> all;
  if constexpr (HasRelationParts<Op>) {
    for (const Relation<Op>* relation : RelationParts<Op>::relations())
      all.push_back({.name = relation->name,
                     .sentence = relation->sentence,
                     .domain = relation->domain,
                     .agreement = relation->agreement == Agreement::bits ? "bits" : "bound"});
    if (!RelationParts<Op>::other.name.empty()) all.push_back(RelationParts<Op>::other);
  }
  return all;
}

}  // namespace assay::conformance
