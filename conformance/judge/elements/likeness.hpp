#pragma once

#include <vector>

#include "assay/conformance/judge/expectation.hpp"
#include "assay/conformance/result/case_report.hpp"

namespace assay::conformance {

/// Finds failing heads, rows or channels that have the expected values of others. None where there
/// are none. Of a tensor whose entries are kept and whose rows are all judged.
Deviation likeness(const Expectation& expectation, const RowReader& actual);

/// Puts that into the pattern of the tensor's failing elements, where these have no deviation yet.
void add_likeness(const Expectation& expectation, const RowReader& actual,
                  std::vector<Finding>& findings);

/// Names for each factor the parameters of its case that it may be: "1 / scale_value".
void name_factors(CaseReport& report);

}  // namespace assay::conformance
