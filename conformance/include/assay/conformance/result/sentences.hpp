#pragma once

#include <span>
#include <string>

#include "assay/conformance/result/case_report.hpp"
#include "assay/conformance/result/pattern.hpp"

/// English sentences about results. They are only for people: no program parses them.
namespace assay::conformance {

/// Example: "all at n = 1, s from 64 to the end". Empty if there are no places.
std::string describe(std::span<const AxisPlace> places);

/// Says how the output relates to the expected value: "0", "-1 times the expected value", "the
/// expected values of s + 1". Empty if no relation was found.
std::string describe(const Deviation& deviation);

/// Writes the text of a finding that has a pattern: "32 of 64 judged elements of dq fail, all at n
/// = 1, where the output is 0".
void write_text(Finding& finding);

}  // namespace assay::conformance
