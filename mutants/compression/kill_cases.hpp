#pragma once

#include <vector>

#include "small_cases.hpp"

namespace assay::mutants::compression {

/// Returns the cases that must detect the compression mutants: the small cases of the default
/// sweep, and one with tokens of 16,384 numbers.
template <class Op>
std::vector<conformance::Case<Op>> kill_cases() {
  auto cases = small_cases_of_the_default_sweep<Op>(3e5);
  conformance::Case<Op> wide;
  wide.problem.heads = wide.problem.head_dim = 128;
  wide.problem.lengths = {32};
  cases.push_back(wide);
  return cases;
}

}  // namespace assay::mutants::compression
