#pragma once

#include <span>
#include <string>

#include "assay/conformance/result/case_report.hpp"
#include "assay/conformance/result/pattern.hpp"

/// English about results. No program text reads it.
namespace assay::conformance {

/// "all at n = 1, s from 64 to the end"; empty where there are none.
std::string describe(std::span<const AxisPlace> places);

/// How an output relates to the expected value: "0", "-1 times the expected value", "the expected
/// values of s + 1"; empty where nothing was found.
std::string describe(const Deviation& deviation);

/// Writes the text of a finding that has a pattern: "32 of 64 judged elements of dq fail, all at n
/// = 1, where the output is 0".
void write_text(Finding& finding);

}  // namespace assay::conformance
