#include "operators/flash_attention_score_grad/plan/sampling.hpp"
#include "operators/flash_attention_score_grad/relations/relations.hpp"
#include "plan/case_collector.hpp"

namespace assay::conformance {

template <>
std::vector<Case<spec::FlashAttentionScoreGrad>> sample(const SamplingPlan& plan) {
  CaseCollector<spec::FlashAttentionScoreGrad> cases(plan);
  cases.add(flash::violation_cases());
  cases.add(flash::variant_cases());
  cases.add(flash::corner_cases(plan.seed));
  cases.add(flash::cover_cases(plan.seed));
  cases.add(flash::lattice_cases(plan.seed));
  cases.add(flash::edge_cases(plan.seed));
  cases.add(flash::relation_cases(plan.seed));
  cases.add(flash::random_cases(plan.seed, plan.wanted_random_cases()));
  cases.add(flash::completing_cases(plan.seed, cases.cases()));
  cases.add(flash::large_cases(plan.seed));
  cases.add(flash::large_relation_cases(plan.seed));
  if (plan.full) cases.add(flash::largest_cases(plan.seed));
  cases.add(flash::model_cases(plan.full ? flash::ModelExtent::whole : flash::ModelExtent::cut));
  cases.add(flash::declaration_cases());
  return cases.take();
}

}  // namespace assay::conformance
