#pragma once

#include <string>
#include <vector>

#include "assay/conformance/causes/causes.hpp"
#include "assay/conformance/result/case_report.hpp"

/// English sentences about the causes of failures, for people only: no program parses them.
namespace assay::conformance {

/// Returns one line that says what fails, and how. Examples: "dq: mostly 0; in 3 of 7 cases all at
/// s from 4 to the end", "dk is wrong, without a pattern that most of the 7 cases share". `cases`:
/// the cases with this cause. The list may be incomplete, but must contain the example of the
/// cause.
std::string pattern_text(const Cause& cause, const std::vector<CaseReport>& cases);

/// Returns the conditions of the cause, in the syntax of the search on the report page.
std::vector<std::string> term_texts(const Cause& cause);

/// Returns the conditions as a sentence. Example: "where sparse_mode=3 and seq_q>=64 (3 other cases
/// with these fields do not fail in this way)".
std::string where_text(const Cause& cause);

/// Returns a summary of errors and verdicts. Example: "error 5 to 14.2 times the bound;
/// nonconformant_proven by bound in 3 of 7 cases".
std::string judged_text(const Cause& cause);

}  // namespace assay::conformance
