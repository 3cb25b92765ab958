#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/result/case_report.hpp"
#include "assay/conformance/result/shrunk_case.hpp"

namespace assay::conformance {

/// What failing cases have in common, and conforming ones have not.
struct Cause {
  std::string pattern;               ///< one line: what fails, and how
  std::vector<std::string> outputs;  ///< that fail; none: the call as a whole does
  std::string stage;                 ///< the stage whose outputs are those that fail: "dP, the row
                                     ///< term or dS"; empty where none is known
  std::vector<std::string> fields;   ///< terms that separate its cases: "sparse_mode=3",
                                     ///< "seq_q>=64"; none: no fields do
  std::vector<std::string> cases;    ///< ids, in the order of the cases
  std::int64_t others = 0;           ///< cases with these fields that do not fail so
  std::string example;               ///< id of the case to look at first: shrunk, or of few words
  std::string line;                  ///< replay line of it, or of what it was shrunk to
};

/// The causes of all failing cases, the one with most cases first. For each way of failing (a
/// tensor that breaks a limit, or a verdict about the call) rules are learnt one after the other.
/// Each takes away the cases that it explains; a rule may have exceptions. A rule is worth its
/// terms if fewer bits say which cases fail with it than without, so that more cases never make a
/// cause worse. Ways with nearly the same cases become one cause.
std::vector<Cause> causes_of(const std::vector<CaseReport>& cases,
                             const std::vector<ShrunkCase>& shrunk);

/// "where sparse_mode=3 and seq_q>=64 (3 other cases with these fields do not fail so)".
std::string where_text(const Cause& cause);

}  // namespace assay::conformance
