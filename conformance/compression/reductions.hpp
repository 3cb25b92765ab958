#pragma once

#include <utility>
#include <vector>

#include "case/reduction.hpp"
#include "compression/problem.hpp"

/// Steps that make a failing case smaller.
namespace assay::conformance::compression {

std::vector<Problem> without_sequences(const Problem& problem);
std::vector<Problem> shorter_sequences(const Problem& problem);
std::vector<Problem> shorter_single_sequences(const Problem& problem);
std::vector<Problem> fewer_heads(const Problem& problem);
/// Returns problems with smaller head sizes. The sizes are multiples of 16, as in all documented
/// examples.
std::vector<Problem> smaller_heads(const Problem& problem);
/// Returns problems with smaller windows. The first has the smallest documented window. The
/// sequence lengths do not change.
std::vector<Problem> smaller_windows(const Problem& problem);

/// Returns a case for each of the problems that `smaller` returns.
template <class Op, std::vector<Problem> (*smaller)(const Problem&)>
std::vector<Case<Op>> smaller_cases(const Case<Op>& c) {
  std::vector<Case<Op>> cases;
  for (Problem& problem : smaller(c.problem)) {
    cases.push_back(c);
    cases.back().problem = std::move(problem);
  }
  return cases;
}

}  // namespace assay::conformance::compression
