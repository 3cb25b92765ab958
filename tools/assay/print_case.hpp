#pragma once

#include <ostream>

#include "assay/conformance/report.hpp"
#include "assay/conformance/results.hpp"

namespace assay::cli {

/// Verdict, table of the tensors, findings and metrics of one case.
void print_case(const conformance::CaseReport& report, std::ostream& out);

/// Verdicts by surface and dtype, rows exercised, worst error of each tensor, replay lines of what
/// does not conform.
void print_results(const conformance::Results& results, std::ostream& out);

}  // namespace assay::cli
