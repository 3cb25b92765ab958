#include "operators/nsa_selected_attention_grad/plan/draws.hpp"
#include "operators/nsa_selected_attention_grad/plan/sampling.hpp"
#include "plan/case_collector.hpp"
#include "plan/hand_made_cases.hpp"

namespace assay::conformance {
namespace {

using Op = spec::NsaSelectedAttentionGrad;

/// Gives exact cases a scale_value that their seed can produce.
std::vector<Case<Op>> exact_cases(const SamplingPlan& plan) {
  std::vector<Case<Op>> cases = hand_made_cases<Op>("exact", plan);
  if (plan.seed != SamplingPlan().seed)
    for (Case<Op>& c : cases) c.problem.scale_value = selected::exact_scale(c.problem, c.seed);
  return cases;
}

}  // namespace

void Suite<spec::NsaSelectedAttentionGrad>::collect(const SamplingPlan& plan,
                                                    CaseCollector<Op>& cases) {
  cases.add(selected::violation_cases());
  cases.add(selected::variant_cases());
  cases.add(hand_made_cases<Op>("corners", plan));
  cases.add(selected::many_tokens_cases(plan.seed));
  cases.add(selected::counted_cases(plan.seed));
  cases.add(selected::drawn().cover(plan));
  cases.add(exact_cases(plan));
  cases.add(hand_made_cases<Op>("relations", plan));
  cases.add(selected::drawn().random(plan));
  cases.add(selected::drawn().completion(plan, cases.cases()));
  if (plan.full) cases.add(selected::drawn().completion_of_triples(plan, cases.cases()));
}

}  // namespace assay::conformance
