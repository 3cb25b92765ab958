#pragma once

#include <vector>

#include "assay/conformance/judge/expectation.hpp"
#include "assay/conformance/result/case_report.hpp"

namespace assay::conformance {

/// Searches for failing heads, rows or channels that contain the expected values of other heads,
/// rows or channels. Returns an empty deviation if it finds none. The search needs the expected
/// values of all rows, and all rows must be judged.
Deviation likeness(const Expectation& expectation, const RowReader& actual);

/// Adds the result of `likeness` (values taken from another head, row or channel) to the failure
/// pattern of the tensor, unless the pattern already has a deviation.
void add_likeness(const Expectation& expectation, const RowReader& actual,
                  std::vector<Finding>& findings);

/// The report may contain factors (output / expected value). Adds to each factor the names of
/// parameters with the same value, such as "1 / scale_value".
void name_factors(CaseReport& report);

}  // namespace assay::conformance
