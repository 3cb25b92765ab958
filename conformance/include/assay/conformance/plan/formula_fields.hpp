#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/case/case.hpp"

/// Coverage of the fields that the formulas read: a kernel that reads a field wrongly shows only in
/// cases whose expected gradients depend on it.
namespace assay::conformance {

/// A field of a problem that the formulas of Op read in some calls.
template <class Op>
struct FormulaField {
  std::string_view name;
  /// Whether they read it in the call of a case.
  bool (*is_read)(const Case<Op>& c);
  /// Gives it another value.
  void (*change)(typename Op::Problem& problem);
  /// Choices of factors with which they read it: a place with none of them has no legal call that
  /// does.
  std::vector<std::vector<std::size_t>> where;
};

/// The places, sparse mode, layout and entry point, in which a field is legally read.
struct FieldCoverage {
  std::string field;
  std::int64_t places = 0;
  /// Those in which no case has other gradients for another value of the field.
  std::vector<std::string> unexcited;
};

/// Changes each field in the cheapest cases that read it, until the definition gives other
/// gradients. Costs about a second.
template <class Op>
std::vector<FieldCoverage> field_coverage(const std::vector<Case<Op>>& cases);

}  // namespace assay::conformance
