#pragma once

#include <string>
#include <vector>

#include "assay/conformance/judge/expectation.hpp"
#include "assay/conformance/report/report.hpp"

namespace assay::conformance {

/// What is due elsewhere in the tensor and stands where elements fail: "n = 1 has what is due at n
/// = 0", "has what is due at s + 1", "has what is due at d - 1"; empty where no such slice is
/// found. Of a tensor whose entries are kept and whose rows are all judged.
std::string likeness(const Expectation& expectation, const RowReader& actual);

/// Adds that to the finding that counts the failing elements of the tensor, where these have no
/// factor.
void tell_likeness(const Expectation& expectation, const RowReader& actual,
                   std::vector<Finding>& findings);

/// Says of each finding with a factor which of the parameters of its case it is: "1 / scale_value".
void name_factors(CaseReport& report);

}  // namespace assay::conformance
