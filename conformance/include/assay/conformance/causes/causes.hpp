#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/result/case_report.hpp"
#include "assay/conformance/result/decision.hpp"
#include "assay/conformance/result/shrunk_case.hpp"

namespace assay::conformance {

/// A probable bug: a property that failing cases share and conforming cases do not have.
struct Cause {
  std::string pattern;               ///< one line: what fails, and how
  Verdict verdict = {};              ///< the most frequent one of its cases
  Rule rule = {};                    ///< the rule that gave it
  std::int64_t decided = 0;          ///< cases with this verdict by this rule
  double least_error = 0;            ///< of |actual - expected| / tau beyond the bound
  double largest_error = 0;          ///< likewise; 0: no error is beyond the bound
  std::vector<std::string> outputs;  ///< outputs that fail; empty: the whole call fails
  std::string stage;                 ///< the stage whose outputs fail: "dP, the row term or dS";
                                     ///< empty: the stage is unknown
  std::vector<std::string> fields;   ///< terms that separate its cases: "sparse_mode=3",
                                     ///< "seq_q>=64"; empty: no field separates them
  std::vector<std::string> cases;    ///< ids, in the order of the cases
  std::int64_t others = 0;           ///< cases with these fields that do not fail this way
  std::string example;               ///< id of the case to look at first: shrunk, or a short line
  std::string line;                  ///< its replay line, or that of the case it was shrunk to
};

/// The causes of all failing cases; the cause with most cases comes first. The cases are grouped by
/// way of failing: a tensor that breaks a limit, or a verdict about the call. For each way, rules
/// are learnt one after the other. Each rule removes the cases that it explains; it may have
/// exceptions. A rule is accepted only if it saves bits: the rule and its exceptions must take
/// fewer bits than a list of the failing cases. So more cases never make a cause worse. Ways of
/// failing with nearly the same cases become one cause.
std::vector<Cause> causes_of(const std::vector<CaseReport>& cases,
                             const std::vector<ShrunkCase>& shrunk);

/// Example: "where sparse_mode=3 and seq_q>=64 (3 other cases with these fields do not fail in this
/// way)".
std::string where_text(const Cause& cause);

/// Example: "error 5 to 14.2 times the bound; nonconformant_proven by bound in 3 of 7 cases".
std::string judged_text(const Cause& cause);

}  // namespace assay::conformance
