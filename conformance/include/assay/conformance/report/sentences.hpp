#pragma once

#include <span>
#include <string>
#include <vector>

#include "assay/conformance/result/case_report.hpp"
#include "assay/conformance/result/fact.hpp"
#include "assay/conformance/result/pattern.hpp"

/// English sentences about results, for people only: no program parses them.
namespace assay::conformance {

/// Describes where elements fail. Example: "all at n = 1, s from 64 to the end". Returns an empty
/// text if no common position was found.
std::string describe(std::span<const AxisPlace> places);

/// Describes how the output differs from the expected value: "0", "-1 times the expected value",
/// "the expected values of s + 1". Returns an empty text if no rule was found.
std::string describe(const Deviation& deviation);

/// Says which part of a pair (forward and gradient) is wrong, for example "the forward is wrong".
std::string describe(PairPart wrong);

/// Returns the sentence of a fact (a statement as data). Returns an empty text if the fact lacks
/// values that the sentence needs, which may happen in a report from another program.
std::string sentence_of(const Fact& fact);

/// Returns the sentence of a finding in this report: its own text or, if that is empty, a sentence
/// about its members. Example: "32 of 64 judged elements of dq fail, all at n = 1, where the output
/// is 0".
std::string sentence_of(const Finding& finding, const CaseReport& report);

/// Returns the sentence that explains the verdict of the report. The function tries four sources
/// and uses the first one that exists: the text of evidence in the decision; a summary of the
/// tensors, if they conform; the fact (statement as data) in the decision; the first finding of the
/// rule that decided. Returns an empty text if none exists.
std::string evidence_of(const CaseReport& report);

/// Returns "decided by RULE: EVIDENCE", or an empty text if there is no evidence.
std::string reason_of(const CaseReport& report);

/// Returns a short description of a failing case: the reason, then the first finding if it adds
/// something.
std::vector<std::string> sentences_first(const CaseReport& report);

/// Returns the report with all these sentences, as report files contain them.
CaseReport with_sentences(CaseReport report);

}  // namespace assay::conformance
