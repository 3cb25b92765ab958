#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/conformance/result/case_report.hpp"
#include "assay/conformance/result/decision.hpp"
#include "assay/conformance/result/field_term.hpp"
#include "assay/conformance/result/pattern.hpp"
#include "assay/conformance/result/shrunk_case.hpp"

namespace assay::conformance {

/// An observation that several failing cases with the same cause share.
template <class Fact>
struct Common {
  Fact fact = {};
  std::int64_t cases = 0;                 ///< cases that show it
  std::vector<std::string> outputs = {};  ///< outputs that show it

  bool operator==(const Common&) const = default;
};

/// A probable bug of the kernel: a property that failing cases share and conforming cases do not
/// have. report/cause_text.hpp writes sentences about it.
struct Cause {
  std::vector<std::string> outputs;  ///< outputs that fail; empty: the whole call fails
  /// How the outputs differ from the expected values. Absent if no such deviation is frequent.
  std::optional<Common<Deviation>> deviation = {};
  /// The positions of failing elements. Absent if no position is frequent.
  std::optional<Common<std::vector<AxisPlace>>> places = {};
  std::optional<PairPart> wrong = {};  ///< of pairs: the part that is wrong
  bool refuses_nothing = false;        ///< the kernel accepts nearly all forbidden calls
  Verdict verdict = {};                ///< the most frequent one of its cases
  Rule rule = {};                      ///< the rule that gave it
  std::int64_t decided = 0;            ///< cases with this verdict by this rule
  double least_error = 0;              ///< of |actual - expected| / tau beyond the bound
  double largest_error = 0;            ///< likewise; 0: no error is beyond the bound
  /// The step of the computation that fails: "dP, the row term or dS". Empty: unknown.
  std::string stage = {};
  std::vector<FieldTerm> terms;         ///< separate its cases from others; empty: no field does
  std::vector<std::string> cases = {};  ///< ids, in the order of the cases
  std::int64_t others = 0;              ///< cases with these fields that do not fail this way
  std::string example = {};  ///< id of the case to look at first: shrunk, or a short line
  std::string line = {};     ///< its replay line, or that of the case it was shrunk to

  bool operator==(const Cause&) const = default;
};

/// Returns the causes of all failing cases; the cause with most cases comes first. Cases are first
/// grouped by their failure: a tensor that exceeds a limit, or a verdict about the call. For each
/// group, the search finds one rule after another. Each rule removes the cases that it explains; it
/// may have exceptions. A rule is accepted only if it saves bits: the rule and its exceptions must
/// take fewer bits than a list of the failing cases. Groups with nearly the same cases become one
/// cause.
std::vector<Cause> causes_of(const std::vector<CaseReport>& cases,
                             const std::vector<ShrunkCase>& shrunk);

}  // namespace assay::conformance
