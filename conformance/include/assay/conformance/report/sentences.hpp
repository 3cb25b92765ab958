#pragma once

#include <span>
#include <string>
#include <vector>

#include "assay/conformance/result/case_report.hpp"
#include "assay/conformance/result/fact.hpp"
#include "assay/conformance/result/pattern.hpp"

/// English sentences about results. They are only for people: no program parses them.
namespace assay::conformance {

/// Example: "all at n = 1, s from 64 to the end". Empty if there are no places.
std::string describe(std::span<const AxisPlace> places);

/// Says how the output relates to the expected value: "0", "-1 times the expected value", "the
/// expected values of s + 1". Empty if no relation was found.
std::string describe(const Deviation& deviation);

/// Says that this part of a pair is wrong: "the forward is wrong".
std::string describe(PairPart wrong);

/// The sentence of a fact. Empty if the fact has not the values of its kind, as it may happen in a
/// report from another program.
std::string sentence_of(const Fact& fact);

/// The sentence of a finding of this report: its own text or, without one, a sentence about its
/// members. Example: "32 of 64 judged elements of dq fail, all at n = 1, where the output is 0".
std::string sentence_of(const Finding& finding, const CaseReport& report);

/// The sentence that says why the report has its verdict: the evidence of the decision; without it
/// a summary of the tensors if they conform, the fact of the decision, or the sentence of the first
/// finding of the deciding rule. Empty without all of these.
std::string evidence_of(const CaseReport& report);

/// "decided by RULE: EVIDENCE"; empty without evidence.
std::string reason_of(const CaseReport& report);

/// A short description of a failing case: the reason, then the first finding if it says more.
std::vector<std::string> sentences_first(const CaseReport& report);

/// Writes all these sentences into the report, as files contain them.
CaseReport with_sentences(CaseReport report);

}  // namespace assay::conformance
