#pragma once

#include <ostream>
#include <string>

#include "assay/conformance/report/report.hpp"
#include "assay/conformance/report/results.hpp"

namespace assay::cli {

/// Verdict, table of the tensors, findings and metrics of one case. Its replay line starts with
/// `program`.
void print_case(const conformance::CaseReport& report, const std::string& program,
                std::ostream& out);

/// Verdicts by entry point and dtype, why cases were not applicable, rows exercised, worst error of
/// each tensor, each fault with the replay line of its first case, and the smallest failing
/// neighbours.
void print_results(const conformance::Results& results, std::ostream& out);

/// How a search for a smaller case ended: "after 34 runs nothing smaller fails in the same way",
/// and how often what it found fails where that is not always.
std::string end_text(const conformance::ShrunkCase& shrunk);

}  // namespace assay::cli
