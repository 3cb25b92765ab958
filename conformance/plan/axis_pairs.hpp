#pragma once

#include <string_view>
#include <vector>

#include "assay/conformance/plan/coverage.hpp"
#include "plan/pairwise.hpp"

namespace assay::conformance {

/// An axis on which the coverage of an operator is counted: a factor for which every case has a
/// value.
struct Axis {
  std::string_view name;
  std::vector<std::string_view> values;
};

/// The axes of an operator, which are the first factors of its space of choices.
struct Axes {
  std::string_view operator_name;
  const ChoiceSpace& space;
  const std::vector<Axis>& all;
};

/// Every pair of values of two axes, and all triples; no case is counted yet.
PairCoverage blank_coverage(const Axes& axes);

/// Counts a case with these values on the axes, for each of its pairs and triples. Does nothing if
/// the coverage has no cells of the operator.
void cover(PairCoverage& coverage, const Axes& axes, const Choice& values);

}  // namespace assay::conformance
