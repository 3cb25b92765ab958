#pragma once

#include <string>

#include "assay/conformance/report/sentences.hpp"
#include "assay/conformance/result/case_report.hpp"

namespace assay::conformance::testing {

/// Returns the text of a report for the message of a failing test: operator and kernel, case,
/// verdict and all findings.
inline std::string printed(const CaseReport& report) {
  std::string text = report.implementation + " " + report.command_line + ": " +
                     std::string(spec::to_string(report.verdict.value()));
  for (const Finding& finding : report.findings)
    text +=
        "\n  " + std::string(spec::to_string(finding.rule)) + ": " + sentence_of(finding, report);
  return text;
}

inline Decision decided(Verdict verdict) { return some_decision(verdict, "a test says so"); }

}  // namespace assay::conformance::testing
