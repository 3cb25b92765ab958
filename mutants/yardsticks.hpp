#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/result/case_report.hpp"

/// Yardsticks: accuracy rules of other projects, applied to the same runs as Assay's own rules.
namespace assay::mutants {

/// Returns the names of the rules as they are printed: "Assay" (its own verdict), "PyTorch
/// assert_close" and so on.
std::vector<std::string> yardstick_names();

/// Returns, for each rule, whether the run of a case fails it. `plain`: the report of a plain
/// correct kernel with the same types. A run without results fails every rule.
std::vector<bool> failed_by(const conformance::CaseReport& report,
                            const conformance::CaseReport& plain);

}  // namespace assay::mutants
