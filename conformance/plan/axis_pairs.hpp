#pragma once

#include <string_view>
#include <vector>

#include "assay/conformance/plan/coverage.hpp"
#include "plan/pairwise.hpp"

namespace assay::conformance {

/// A property for which coverage is counted, with its possible values. Every case has one of these
/// values.
struct Axis {
  std::string_view name;
  std::vector<std::string_view> values;
};

/// The axes (properties for which coverage is counted) of an operator. `space` contains the allowed
/// combinations of all varied properties; the axes are the first of these properties.
struct Axes {
  std::string_view operator_name;
  const ChoiceSpace& space;
  const std::vector<Axis>& all;
};

/// Returns a coverage table with every pair and every triple of property values. No case is counted
/// yet.
PairCoverage blank_coverage(const Axes& axes);

/// Counts a case with these property values for each of its pairs and triples. Does nothing if the
/// coverage table lacks this operator.
void cover(PairCoverage& coverage, const Axes& axes, const Choice& values);

}  // namespace assay::conformance
