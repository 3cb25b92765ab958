#include <utility>

#include "assay/conformance/attention/exact_case.hpp"
#include "operators/flash_attention_score_grad/plan/factors.hpp"
#include "operators/flash_attention_score_grad/plan/sampling.hpp"
#include "plan/case_collector.hpp"
#include "plan/hand_made_cases.hpp"

namespace assay::conformance {
namespace {

using Op = spec::FlashAttentionScoreGrad;

/// Gives exact cases a scale_value that exact_case_scale can return for their seed.
std::vector<Case<Op>> exact_cases(const SamplingPlan& plan) {
  std::vector<Case<Op>> cases = hand_made_cases<Op>("exact", plan);
  if (plan.seed != SamplingPlan().seed)
    for (Case<Op>& c : cases) c.problem.scale_value = exact_case_scale(c.problem, c.seed);
  return cases;
}

/// Returns a quarter of the cases that combine the values of any four factors. Four consecutive
/// seeds return all of these cases.
std::vector<Case<Op>> interaction_cases(const SamplingPlan& plan) {
  constexpr std::uint64_t parts = 4;
  std::vector<Case<Op>> cases;
  std::uint64_t number = plan.seed;
  for (Case<Op>& c : flash::interaction_cases(plan.seed))
    if (plan.full || number++ % parts == 0) cases.push_back(std::move(c));
  return cases;
}

}  // namespace

void Suite<spec::FlashAttentionScoreGrad>::collect(const SamplingPlan& plan,
                                                   CaseCollector<Op>& cases) {
  cases.add(flash::violation_cases());
  cases.add(flash::variant_cases());
  cases.add(hand_made_cases<Op>("corners", plan));
  cases.add(hand_made_cases<Op>("biases", plan));
  cases.add(hand_made_cases<Op>("heads", plan));
  cases.add(flash::drawn().cover(plan));
  cases.add(exact_cases(plan));
  cases.add(flash::edge_cases(plan.seed));
  cases.add(hand_made_cases<Op>("relations", plan));
  cases.add(flash::drawn().random(plan));
  cases.add(flash::drawn().completion(plan, cases.cases()));
  if (plan.full) cases.add(flash::drawn().completion_of_triples(plan, cases.cases()));
  cases.add(flash::large_cases(plan.seed));
  cases.add(flash::large_relation_cases(plan.seed));
  cases.add(flash::short_cases(plan.seed));
  cases.add(flash::core_cases(plan.seed));
  cases.add(interaction_cases(plan));
  cases.add(flash::field_cases(plan.seed, cases.cases()));
}

}  // namespace assay::conformance
