#pragma once

#include <algorithm>
#include <functional>
#include <list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/conformance/judge/arithmetic.hpp"
#include "attention/dense.hpp"
#include "attention/relations/arithmetic.hpp"
#include "attention/relations/trial.hpp"
#include "judge/relations/comparison.hpp"
#include "judge/relations/relating.hpp"

/// What relations between runs share, of whichever operator of attention the kernels are.
namespace assay::conformance::flash {

/// Gradients that those of several runs predict.
using Combination = std::function<Gradients(const std::vector<Gradients>&)>;

/// The outputs of `base` are predicted from those of the variants. `combine` adds and moves
/// elements, times numbers that are not negative: it combines tolerances as well as values.
template <class Trial>
struct ExperimentOf {
  Trial base;
  std::vector<Trial> variants;
  Combination combine;
};

/// The experiment that one variant has the very gradients of `base`.
template <class Trial>
ExperimentOf<Trial> unchanged(Trial base, Trial variant) {
  return {.base = std::move(base),
          .variants = {std::move(variant)},
          .combine = [](const std::vector<Gradients>& outputs) { return outputs[0]; }};
}

/// A problem whose rows are rows of another one.
template <class Problem>
struct PieceOf {
  Problem problem;
  Origin query, key;
};

/// Gradients of `whole` from those of its pieces, added where pieces share a row.
Combination adding(const Op::Problem& whole, std::vector<PieceOf<Op::Problem>> pieces);

template <class Trial>
struct RelationOf {
  using Problem = decltype(Trial::problem);

  std::string_view name, sentence;
  Agreement agreement;
  /// Whether it holds for the problem, and how the domain reads.
  bool (*applies)(const Problem&);
  std::string_view domain;
  /// Problems of its domain, small enough to judge every row.
  std::vector<Problem> (*problems)();
  ExperimentOf<Trial> (*prepare)(const Trial& base);
};

/// How far two runs may lie from each other, element by element. tau: with high probability;
/// tau_det: without doubt.
struct Tolerances {
  Gradients tau, tau_det;
  bool consistent = true;  ///< whether the profile may be judged on the data of every run
};

/// The tolerances of every element of one run.
Tolerances run_tolerances(const Dense& dense, const Arithmetic& arithmetic);

/// Compares a run with what the others predict. `tolerances` is null where every bit must agree.
Decision compare_runs(std::string_view sentence, const Op::Problem& problem,
                      const std::pair<Gradients, Gradients>& actual_and_predicted,
                      const Tolerances* tolerances, CaseReport& report);

/// The tolerance of the base and of what the variants predict, added.
template <class Family>
Tolerances tolerances(const ExperimentOf<typename Family::Trial>& experiment,
                      const spec::NumericsProfile& profile) {
  Tolerances total = Family::tolerances_of(experiment.base, profile);
  std::vector<Gradients> tau, det;
  for (const auto& variant : experiment.variants) {
    Tolerances own = Family::tolerances_of(variant, profile);
    total.consistent = total.consistent && own.consistent;
    tau.push_back(std::move(own.tau)), det.push_back(std::move(own.tau_det));
  }
  total.tau = sum(std::move(total.tau), experiment.combine(tau));
  total.tau_det = sum(std::move(total.tau_det), experiment.combine(det));
  return total;
}

/// The runs of one case, and what kernels may make of them. Made once, it judges any number of
/// kernels. What is an operator's own a Family says: the types Op, Trial and Relation, and the
/// static members
///
///   const Relation& relation_named(std::string_view name);           // std::invalid_argument for
///   an unknown one Trial trial_of(const Case<Op>& c); Op::Inputs inputs_of(const Trial& trial);
///   bool is_same_run(const Trial& a, const Trial& b);
///   Case<Op> case_of(const Trial& trial, const Case<Op>& asked);      // whose call makes the run
///   Gradients gradients_of(const Op::Problem& problem, const Op::Outputs& outputs);
///   Tolerances tolerances_of(const Trial& trial, const spec::NumericsProfile& profile);
///   flash::Op::Problem dense_problem(const Op::Problem& problem);
template <class Family>
class RelationExaminationOf {
  using Operator = typename Family::Op;
  using Kernel = spec::Implementation<Operator>;

 public:
  /// Errors: std::invalid_argument for an unknown relation.
  explicit RelationExaminationOf(Case<Operator> c)
      : examined_(std::move(c)), relation_(&Family::relation_named(examined_.relation)) {
    if (!relation_->applies(examined_.problem)) return;
    experiment_ = relation_->prepare(Family::trial_of(examined_));
    inputs_.push_back(Family::inputs_of(experiment_->base));
    for (const auto& variant : experiment_->variants) inputs_.push_back(Family::inputs_of(variant));
  }

  /// Runs the kernel and compares. The report tells the largest difference as a share of the
  /// tolerance.
  CaseReport examine(Kernel& kernel) {
    return related(examined_, kernel, [&](const Case<Operator>& c, CaseReport& report) {
      if (!experiment_) return outside(relation_->domain, report);
      if (c.seed == examined_.seed) return judge_once(kernel, report);
      return RelationExaminationOf(c).judge_once(kernel, report);
    });
  }

 private:
  const Tolerances& allowed(const spec::NumericsProfile& profile) {
    for (const auto& [known, entry] : allowed_)
      if (known == profile) return entry;
    return allowed_.emplace_back(profile, tolerances<Family>(*experiment_, profile)).second;
  }

  Gradients run(std::size_t number, Kernel& kernel) const {
    const auto& trial = number == 0 ? experiment_->base : experiment_->variants[number - 1];
    const Case<Operator> c = Family::case_of(trial, examined_);
    return Family::gradients_of(trial.problem, related_run(c, inputs_[number], kernel));
  }

  /// Multiply-adds of a run up to which the tolerance of every element is worth its time.
  static constexpr double most_bounded = 1e8;

  Decision judge_once(Kernel& kernel, CaseReport& report) {
    const spec::NumericsProfile profile = kernel.numerics(examined_.problem);
    const bool exact =
        relation_->agreement == Agreement::bits && profile.order == spec::Order::fixed;
    if (!exact &&
        conformance::multiply_adds(Family::dense_problem(examined_.problem)) > most_bounded) {
      const std::string text =
          "so long a run is compared bit by bit alone, which needs a fixed order";
      add_note(report, "note", text);
      return {Verdict::not_applicable, Rule::domain, text};
    }
    const Gradients actual = run(0, kernel);
    std::vector<Gradients> outputs;
    while (outputs.size() < experiment_->variants.size())
      outputs.push_back(run(outputs.size() + 1, kernel));
    const Tolerances* limits = exact ? nullptr : &allowed(profile);
    if (limits != nullptr && !limits->consistent) {
      const std::string text =
          "statistics and attention_in of some run do not belong to its data, which the profile "
          "needs";
      add_note(report, "note", text);
      return {Verdict::not_applicable, Rule::inconsistent_inputs, text};
    }
    Decision decision = compare_runs(relation_->sentence, Family::dense_problem(examined_.problem),
                                     {actual, experiment_->combine(outputs)}, limits, report);
    if (decision != Verdict::conforms || outputs.empty()) return decision;
    const auto is_base = [&](const auto& variant) {
      return Family::is_same_run(variant, experiment_->base);
    };
    return decision_of({.are_one_run = std::ranges::all_of(experiment_->variants, is_base),
                        .are_zero = are_zero(actual, gradient_tensors)},
                       report);
  }

  Case<Operator> examined_;
  const typename Family::Relation* relation_;
  std::optional<ExperimentOf<typename Family::Trial>>
      experiment_;                                 ///< nothing where the relation does not hold
  std::vector<typename Operator::Inputs> inputs_;  ///< of the base and of the variants
  std::list<std::pair<spec::NumericsProfile, Tolerances>> allowed_;
};

}  // namespace assay::conformance::flash
