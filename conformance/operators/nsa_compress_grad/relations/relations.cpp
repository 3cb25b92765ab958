#include "operators/nsa_compress_grad/relations/relations.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "case/limits.hpp"
#include "judge/judging.hpp"
#include "judge/relations/list.hpp"
#include "judge/relations/relating.hpp"
#include "operators/nsa_compress_grad/bound.hpp"

namespace assay::conformance {
namespace compress {
namespace {

using Kernel = spec::Implementation<Op>;
using Numbers = std::vector<double>;

std::vector<std::int64_t> all_rows(const spec::Extents& e) {
  std::vector<std::int64_t> rows;
  for (std::int64_t row = 0; row < e.rows(); ++row) rows.push_back(row);
  return rows;
}

Tolerances of_one_run(const Trial& trial, const spec::NumericsProfile& profile) {
  const Op::Inputs inputs = inputs_of(trial);
  const Dense dense(trial.problem, inputs);
  const Arithmetic arithmetic(profile, trial.problem.dtype);
  const auto both =
      expectations(dense, arithmetic, {all_rows(dense.inputs), all_rows(dense.weights)});
  Tolerances result;
  for (std::size_t t = 0; t < both.size(); ++t) {
    result.tau.*gradient_tensors[t].member = with_radius(both[t].tau, both[t]);
    result.tau_det.*gradient_tensors[t].member = with_radius(both[t].tau_det, both[t]);
  }
  return result;
}

void add(Gradients& sum, const Gradients& other) {
  for (const GradientTensor& tensor : gradient_tensors)
    for (std::size_t k = 0; k < (other.*tensor.member).size(); ++k)
      (sum.*tensor.member)[k] += (other.*tensor.member)[k];
}

/// The call of a trial, on the product that the case asks for.
CompressCase case_of(const Trial& trial, const CompressCase& asked) {
  CompressCase c{.problem = trial.problem, .surface = asked.surface, .product = asked.product};
  c.inputs = trial.inputs, c.outputs = trial.outputs;
  c.upstream = asked.upstream;
  return c;
}

/// Sums over every head of rows times their gradients.
Numbers contracted(const spec::Extents& e, const Numbers& gradient, const Numbers& rows) {
  Numbers sums(static_cast<std::size_t>(e.heads), 0.0);
  for (std::int64_t row = 0; row < e.rows(); ++row)
    for (std::int64_t d = 0; d < e.dim; ++d) {
      const auto k = static_cast<std::size_t>(row * e.dim + d);
      sums[static_cast<std::size_t>(e.position(row).n)] += gradient[k] * rows[k];
    }
  return sums;
}

/// Compares the contractions of a run's two outputs with the operands that they belong to.
Decision compare_contractions(const Trial& trial, const Gradients& g, const Tolerances& allowed,
                              std::string_view sentence, CaseReport& report) {
  const spec::Extents inputs = input_extents(trial.problem),
                      weights = weight_extents(trial.problem);
  Numbers weight;  // in the order of the rows of weight_grad
  for (std::int64_t row = 0; row < weights.rows(); ++row) {
    const auto [b, n, w] = weights.position(row);
    weight.push_back(trial.rows.weight[static_cast<std::size_t>(w * weights.heads + n)]);
  }
  const auto magnitudes = [](Numbers values) {
    for (double& value : values) value = std::abs(value);
    return values;
  };
  const auto tolerance = [&](const Gradients& of_elements) {
    Numbers sum = contracted(inputs, of_elements.input_grad, magnitudes(trial.rows.input));
    const Numbers more = contracted(weights, of_elements.weight_grad, magnitudes(weight));
    // The contractions themselves are sums in double.
    for (std::size_t n = 0; n < sum.size(); ++n) sum[n] = (sum[n] + more[n]) * (1 + 0x1p-20);
    return sum;
  };
  const Numbers actual = contracted(inputs, g.input_grad, trial.rows.input),
                predicted = contracted(weights, g.weight_grad, weight);
  const Numbers tau = tolerance(allowed.tau), tau_det = tolerance(allowed.tau_det);
  return compare_numbers(
      {.tensor = gradient_tensors[0].name,
       .actual = actual,
       .predicted = predicted,
       .tau = tau,
       .tau_det = tau_det,
       .extents = {.batch = 1, .heads = trial.problem.heads, .seq = 1, .dim = 1}},
      sentence, report);
}

/// One examination of a case: runs the kernel and compares.
class RelationTrial {
 public:
  RelationTrial(const CompressCase& c, Kernel& kernel)
      : case_(c),
        kernel_(kernel),
        relation_(relation(c.relation)),
        experiment_(relation_.prepare(trial_of(c.problem, make_inputs(c)))) {}

  Decision judge(CaseReport& report) {
    const Gradients actual = run(experiment_.base);
    std::vector<Gradients> outputs;
    for (const Trial& variant : experiment_.variants) outputs.push_back(run(variant));
    Decision decision = compare(actual, outputs, report);
    if (decision != Verdict::conforms || outputs.empty()) return decision;
    const auto is_base = [&](const Trial& variant) {
      return is_same_run(variant, experiment_.base);
    };
    return decision_of({.are_one_run = std::ranges::all_of(experiment_.variants, is_base),
                        .are_zero = are_zero(actual, gradient_tensors)},
                       report);
  }

 private:
  Gradients run(const Trial& trial) {
    return gradients_of(trial.problem,
                        related_run(case_of(trial, case_), inputs_of(trial), kernel_));
  }

  Decision compare(const Gradients& actual, const std::vector<Gradients>& outputs,
                   CaseReport& report) {
    const spec::NumericsProfile profile = kernel_.numerics(case_.problem);
    const bool exact =
        relation_.agreement == Agreement::bits && profile.order == spec::Order::fixed;
    const Tolerances allowed = exact ? Tolerances{} : tolerances(experiment_, profile);
    if (experiment_.is_contracted)
      return compare_contractions(experiment_.base, actual, allowed, relation_.sentence, report);
    const Gradients predicted = outputs.empty() ? experiment_.known : experiment_.combine(outputs);
    Decision decision = no_objection("the agreement of the runs");
    for (const GradientTensor& tensor : gradient_tensors) {
      if ((predicted.*tensor.member).empty()) continue;
      decision =
          graver(std::move(decision), compare_numbers({.tensor = tensor.name,
                                                       .actual = actual.*tensor.member,
                                                       .predicted = predicted.*tensor.member,
                                                       .tau = allowed.tau.*tensor.member,
                                                       .tau_det = allowed.tau_det.*tensor.member,
                                                       .extents = tensor.extents(case_.problem)},
                                                      relation_.sentence, report));
    }
    return decision;
  }

  const CompressCase& case_;
  Kernel& kernel_;
  const Relation& relation_;
  Experiment experiment_;
};

}  // namespace

std::vector<const Relation*> relations() {
  return relation_list({arithmetic_relations(), rearranging_relations()});
}

const Relation& relation(std::string_view name) { return relation_named(relations(), name); }

Tolerances tolerances(const Experiment& experiment, const spec::NumericsProfile& profile) {
  Tolerances total = of_one_run(experiment.base, profile);
  if (experiment.variants.empty()) return total;
  std::vector<Gradients> tau, det;
  for (const Trial& variant : experiment.variants) {
    Tolerances own = of_one_run(variant, profile);
    tau.push_back(std::move(own.tau)), det.push_back(std::move(own.tau_det));
  }
  add(total.tau, experiment.combine(tau));
  add(total.tau_det, experiment.combine(det));
  return total;
}

}  // namespace compress

CaseReport examine_relation(const Case<spec::NsaCompressGrad>& c,
                            spec::Implementation<spec::NsaCompressGrad>& kernel) {
  const compress::Relation& relation = compress::relation(c.relation);
  return related(c, kernel, [&](const compress::CompressCase& asked, CaseReport& report) {
    if (relation.applies(asked.problem))
      return compress::RelationTrial(asked, kernel).judge(report);
    return outside(relation.domain, report);
  });
}

}  // namespace assay::conformance
