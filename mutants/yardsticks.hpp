#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/result/case_report.hpp"

/// Rules by which other stacks judge accuracy, beside our own on the same runs.
namespace assay::mutants {

/// "Assay", our own verdict, and "PyTorch assert_close" and so on, as they are printed.
std::vector<std::string> yardstick_names();

/// Whether each of them accuses a run of a case, of which `plain` is that of a plain healthy kernel
/// of the same types. A run without numbers is accused by all.
std::vector<bool> accused_by(const conformance::CaseReport& report,
                             const conformance::CaseReport& plain);

}  // namespace assay::mutants
