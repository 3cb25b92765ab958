#pragma once

#include <vector>

#include "assay/conformance/plan/sampling.hpp"
#include "assay/conformance/suite.hpp"
#include "plan/case_collector.hpp"
#include "plan/hand_made_cases.hpp"

namespace assay::conformance {

template <class Op>
std::vector<Case<Op>> sample(const SamplingPlan& plan) {
  CaseCollector<Op> cases(plan);
  cases.add(hand_made_cases<Op>("twins", plan));
  cases.end_front();
  Suite<Op>::collect(plan, cases);
  cases.add(hand_made_cases<Op>("models", plan));
  cases.add(hand_made_cases<Op>("legal", plan));
  cases.add(hand_made_cases<Op>("strides", plan));
  cases.add(own_cases<Op>(plan));
  return cases.take();
}

}  // namespace assay::conformance
