#include "operators/nsa_compress_grad/plan/sampling.hpp"
#include "plan/case_collector.hpp"

namespace assay::conformance {

template <>
std::vector<Case<spec::NsaCompressGrad>> sample(const SamplingPlan& plan) {
  CaseCollector<spec::NsaCompressGrad> cases(plan);
  cases.add(compress::violation_cases());
  cases.add(compress::variant_cases());
  cases.add(compress::corner_cases(plan.seed));
  cases.add(compress::cover_cases(plan.seed));
  cases.add(compress::lattice_cases(plan.seed));
  cases.add(compress::relation_cases(plan.seed));
  cases.add(compress::random_cases(plan.seed, plan.wanted_random_cases()));
  cases.add(compress::completing_cases(plan.seed, cases.cases()));
  cases.add(
      compress::model_cases(plan.full ? compress::ModelExtent::whole : compress::ModelExtent::cut));
  return cases.take();
}

}  // namespace assay::conformance
