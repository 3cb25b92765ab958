#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/case/case.hpp"

/// Coverage of the problem fields that the formulas use. A kernel that uses a wrong value of a
/// field fails only in cases whose expected outputs depend on this field.
namespace assay::conformance {

/// A field of a problem that the formulas of Op use in some calls.
template <class Op>
struct FormulaField {
  std::string_view name;
  /// Returns whether the formulas use the field in this case.
  bool (*is_read)(const Case<Op>& c);
  /// Changes the field to another value.
  void (*change)(typename Op::Problem& problem);
  /// The combinations of factor values (properties of a case) with which the formulas use the
  /// field. Coverage counts only the sparse modes, layouts and entry points that occur in these
  /// combinations.
  std::vector<std::vector<std::size_t>> where;
};

/// Coverage of one field. `places`: the number of combinations of sparse mode, layout and entry
/// point in which a legal call uses the field.
struct FieldCoverage {
  std::string field;
  std::int64_t places = 0;
  /// The combinations (sparse mode, layout, entry point) in which no planned case has outputs that
  /// depend on the field.
  std::vector<std::string> unexcited;
};

/// Tests each field in the cheapest cases that use it: changes its value until the high-precision
/// definition computes different outputs. Takes about one second.
template <class Op>
std::vector<FieldCoverage> field_coverage(const std::vector<Case<Op>>& cases);

}  // namespace assay::conformance
