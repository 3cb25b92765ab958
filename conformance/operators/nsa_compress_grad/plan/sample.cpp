#include "operators/nsa_compress_grad/plan/factors.hpp"
#include "operators/nsa_compress_grad/plan/sampling.hpp"
#include "plan/case_collector.hpp"
#include "plan/hand_made_cases.hpp"

namespace assay::conformance {

void Suite<spec::NsaCompressGrad>::collect(const SamplingPlan& plan, CaseCollector<Op>& cases) {
  cases.add(compress::violation_cases());
  cases.add(compress::variant_cases());
  cases.add(hand_made_cases<Op>("corners", plan));
  cases.add(compress::many_tokens_cases(plan.seed));
  cases.add(compress::drawn().cover(plan));
  cases.add(hand_made_cases<Op>("exact", plan));
  cases.add(hand_made_cases<Op>("relations", plan));
  cases.add(compress::drawn().random(plan));
  cases.add(compress::drawn().completion(plan, cases.cases()));
  if (plan.full) cases.add(compress::drawn().completion_of_triples(plan, cases.cases()));
}

}  // namespace assay::conformance
