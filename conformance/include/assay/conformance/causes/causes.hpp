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

/// A fact that several cases of a cause show.
template <class Fact>
struct Common {
  Fact fact = {};
  std::int64_t cases = 0;                 ///< cases that show it
  std::vector<std::string> outputs = {};  ///< outputs that show it

  bool operator==(const Common&) const = default;
};

/// A probable bug: a property that failing cases share and conforming cases do not have. Its
/// sentences: report/cause_text.hpp.
struct Cause {
  std::vector<std::string> outputs;  ///< outputs that fail; empty: the whole call fails
  /// How the outputs relate to the expected values; absent if no deviation is frequent.
  std::optional<Common<Deviation>> deviation = {};
  /// Where elements fail; absent if no place is frequent.
  std::optional<Common<std::vector<AxisPlace>>> places = {};
  std::optional<PairPart> wrong = {};   ///< of pairs: the part that is wrong
  bool refuses_nothing = false;         ///< the kernel accepts nearly all forbidden calls
  Verdict verdict = {};                 ///< the most frequent one of its cases
  Rule rule = {};                       ///< the rule that gave it
  std::int64_t decided = 0;             ///< cases with this verdict by this rule
  double least_error = 0;               ///< of |actual - expected| / tau beyond the bound
  double largest_error = 0;             ///< likewise; 0: no error is beyond the bound
  std::string stage = {};               ///< the stage whose outputs fail: "dP, the row term or dS";
                                        ///< empty: the stage is unknown
  std::vector<FieldTerm> terms;         ///< separate its cases from others; empty: no field does
  std::vector<std::string> cases = {};  ///< ids, in the order of the cases
  std::int64_t others = 0;              ///< cases with these fields that do not fail this way
  std::string example = {};  ///< id of the case to look at first: shrunk, or a short line
  std::string line = {};     ///< its replay line, or that of the case it was shrunk to

  bool operator==(const Cause&) const = default;
};

/// The causes of all failing cases; the cause with most cases comes first. The cases are grouped by
/// way of failing: a tensor that breaks a limit, or a verdict about the call. For each way, rules
/// are learnt one after the other. Each rule removes the cases that it explains; it may have
/// exceptions. A rule is accepted only if it saves bits: the rule and its exceptions must take
/// fewer bits than a list of the failing cases. So more cases never make a cause worse. Ways of
/// failing with nearly the same cases become one cause.
std::vector<Cause> causes_of(const std::vector<CaseReport>& cases,
                             const std::vector<ShrunkCase>& shrunk);

}  // namespace assay::conformance
