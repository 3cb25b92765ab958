#pragma once

#include <ostream>
#include <string>

#include "assay/conformance/report.hpp"
#include "assay/conformance/results.hpp"

namespace assay::cli {

/// Verdict, table of the tensors, findings and metrics of one case.
void print_case(const conformance::CaseReport& report, std::ostream& out);

/// Verdicts by surface and dtype, rows exercised, worst error of each tensor, replay lines of what
/// does not conform, and of its smallest failing neighbours.
void print_results(const conformance::Results& results, std::ostream& out);

/// How a search for a smaller case ended: "after 34 runs nothing smaller fails in the same way".
std::string end_text(const conformance::ShrunkCase& shrunk);

}  // namespace assay::cli
