#include <cstddef>
#include <limits>
#include <utility>

#include "operators/flash_attention_score_grad_bound.hpp"
#include "operators/flash_attention_score_grad_relations.hpp"

namespace assay::conformance::flash {
namespace {

Tolerances of_one_run(const Trial& trial, const spec::NumericsProfile& profile) {
  const Op::Inputs inputs = inputs_of(trial);
  const Dense dense(trial.problem, inputs);
  const Arithmetic arithmetic(profile, trial.problem.dtype);
  const AllRowTerms rows = row_terms(dense, arithmetic);
  const JudgedRows all{ascending(0, dense.queries.rows()), ascending(0, dense.keys.rows())};
  Tolerances result{.tau = {}, .tau_det = {}, .consistent = rows.consistent};
  std::size_t next = 0;
  for (const Expectation& e : expectations(dense, arithmetic, rows, all)) {
    const auto member = gradient_tensors[next++].member;
    const auto store = [&](const std::vector<double>& own, std::vector<double>& kept) {
      kept = own;
      for (std::size_t k = 0; k < kept.size(); ++k) {
        const bool exempt = e.exempt[k / static_cast<std::size_t>(e.dim())] != 0;
        kept[k] = exempt ? std::numeric_limits<double>::infinity() : kept[k] + e.radius[k];
      }
    };
    store(e.tau, result.tau.*member);
    store(e.tau_det, result.tau_det.*member);
  }
  return result;
}

}  // namespace

Tolerances tolerances(const Experiment& experiment, const spec::NumericsProfile& profile) {
  Tolerances total = of_one_run(experiment.base, profile);
  std::vector<Gradients> tau, det;
  for (const Trial& variant : experiment.variants) {
    Tolerances own = of_one_run(variant, profile);
    total.consistent = total.consistent && own.consistent;
    tau.push_back(std::move(own.tau)), det.push_back(std::move(own.tau_det));
  }
  const Gradients moved_tau = experiment.combine(tau), moved_det = experiment.combine(det);
  for (const GradientTensor& tensor : gradient_tensors)
    for (std::size_t k = 0; k < (total.tau.*tensor.member).size(); ++k) {
      (total.tau.*tensor.member)[k] += (moved_tau.*tensor.member)[k];
      (total.tau_det.*tensor.member)[k] += (moved_det.*tensor.member)[k];
    }
  return total;
}

}  // namespace assay::conformance::flash
