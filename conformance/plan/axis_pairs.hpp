#pragma once

#include <cstddef>
#include <string_view>

#include "assay/conformance/plan/coverage.hpp"
#include "plan/pairwise.hpp"

namespace assay::conformance {

/// The axes on which the coverage of an operator is counted: the first factors of its choice space,
/// each with a value in every case.
struct Axes {
  std::string_view operator_name;
  const ChoiceSpace& space;
  std::size_t count;
  std::string_view (*name)(std::size_t axis);
  std::string_view (*value)(std::size_t axis, std::size_t value);
};

/// Every pair of values of two axes, nothing covered.
PairCoverage blank_coverage(const Axes& axes);

/// Counts a case that has `values` on the axes in each of its pairs, if the coverage has cells of
/// the operator.
void cover(PairCoverage& coverage, const Axes& axes, const Choice& values);

}  // namespace assay::conformance
