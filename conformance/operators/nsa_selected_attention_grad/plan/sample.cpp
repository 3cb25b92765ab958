#include "operators/nsa_selected_attention_grad/plan/sampling.hpp"
#include "operators/nsa_selected_attention_grad/relations/relations.hpp"
#include "plan/case_collector.hpp"

namespace assay::conformance {

template <>
std::vector<Case<spec::NsaSelectedAttentionGrad>> sample(const SamplingPlan& plan) {
  CaseCollector<spec::NsaSelectedAttentionGrad> cases(plan);
  cases.add(selected::violation_cases());
  cases.add(selected::variant_cases());
  cases.add(selected::corner_cases(plan.seed));
  cases.add(selected::cover_cases(plan.seed));
  cases.add(selected::lattice_cases(plan.seed));
  cases.add(selected::relation_cases(plan.seed));
  cases.add(selected::random_cases(plan.seed, plan.wanted_random_cases()));
  cases.add(selected::completing_cases(plan.seed, cases.cases()));
  cases.add(
      selected::model_cases(plan.full ? selected::ModelExtent::whole : selected::ModelExtent::cut));
  cases.add(selected::declaration_cases(plan.seed));
  return cases.take();
}

}  // namespace assay::conformance
