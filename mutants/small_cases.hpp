#pragma once

#include <vector>

#include "assay/conformance/plan/sampling.hpp"
#include "assay/mutants/kill_table.hpp"

namespace assay::mutants {

/// Returns the cases of the default sweep that are useful for mutants: the calls that violate a
/// requirement, the cases that the plain kernels finish quickly, and every legal call. (Only a
/// legal call can detect a too strict argument check.) Leaves out relations between several runs:
/// they take long, and the other cases find every fault.
template <class Op>
std::vector<conformance::Case<Op>> small_cases_of_the_default_sweep(double most_multiply_adds) {
  using conformance::Track;
  std::vector<conformance::Case<Op>> cases;
  for (const conformance::Case<Op>& c : conformance::sample<Op>({})) {
    if (c.track == Track::relation) continue;
    const bool is_number = c.violate.empty() && c.track != Track::arguments;
    if (!is_number || conformance::Suite<Op>::multiply_adds(c.problem) <= most_multiply_adds)
      cases.push_back(c);
    if (!is_number) continue;
    cases.push_back(c);
    cases.back().track = Track::arguments;
  }
  return cases;
}

}  // namespace assay::mutants
