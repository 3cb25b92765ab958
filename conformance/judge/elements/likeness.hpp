#pragma once

#include <vector>

#include "assay/conformance/judge/expectation.hpp"
#include "assay/conformance/result/case_report.hpp"

namespace assay::conformance {

/// Searches for failing heads, rows or channels that have the expected values of other heads, rows
/// or channels. Returns no deviation if it finds nothing. It needs the expected values of all rows,
/// and all rows must be judged.
Deviation likeness(const Expectation& expectation, const RowReader& actual);

/// Adds the result of `likeness` to the failure pattern of the tensor, if the pattern has no
/// deviation yet.
void add_likeness(const Expectation& expectation, const RowReader& actual,
                  std::vector<Finding>& findings);

/// Adds to each ratio output / expected value in the report the names of parameters that it may
/// equal, such as "1 / scale_value".
void name_factors(CaseReport& report);

}  // namespace assay::conformance
