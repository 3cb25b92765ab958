#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/report/results.hpp"

namespace assay::cli {

/// The kind of change of a verdict.
enum class Change : std::uint8_t {
  regression,   ///< see `ChangedCase` for the reason
  improvement,  ///< contributes a less severe code to the exit code
  other,        ///< another verdict with the same exit code
};

/// A case whose verdict changed. It has pointers into both reports.
struct ChangedCase {
  Change change;
  /// The reason of a regression: "worse" (its verdict contributes a more severe exit code), "no
  /// longer judged", "new" (the case fails and did not exist before). Empty if it is not a
  /// regression.
  std::string_view why;
  const conformance::CaseReport* before;  ///< null for a new case
  const conformance::CaseReport* now;
};

/// The changes between the cases of two reports.
struct Changes {
  std::int64_t common = 0, only_now = 0;
  std::vector<ChangedCase> cases;  ///< regressions first, then in the order of `now`
  std::vector<const conformance::CaseReport*> only_before;  ///< cases that are not judged now

  std::int64_t count(Change change) const;
};

/// Compares cases with equal ids. The result has pointers into both reports.
Changes changes_between(const conformance::Results& now, const conformance::Results& before);

/// Returns JSON for programs; tools/changes_schema.md describes its members.
std::string to_json(const Changes& changes, const conformance::Results& now,
                    const conformance::Results& before);

}  // namespace assay::cli

namespace assay::spec {

template <>
inline constexpr auto spellings_of<cli::Change> = Spellings<cli::Change, 3>{{{
    {cli::Change::regression, "regression"},
    {cli::Change::improvement, "improvement"},
    {cli::Change::other, "other"},
}}};

}  // namespace assay::spec
