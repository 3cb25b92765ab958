#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/report/results.hpp"

namespace assay::cli {

/// The kind of a change between the verdicts of two reports.
enum class Change : std::uint8_t {
  regression,   ///< see `ChangedCase` for the reason
  improvement,  ///< contributes a less severe code to the exit code
  other,        ///< another verdict with the same exit code
};

/// A case with different verdicts in two reports. Contains pointers into both reports.
struct ChangedCase {
  Change change;
  /// The reason of a regression: "worse" (the exit code of the verdict is more severe), "no longer
  /// judged", or "new" (the case fails and did not exist before). Empty for other changes.
  std::string_view why;
  const conformance::CaseReport* before;  ///< null for a new case
  const conformance::CaseReport* now;
};

/// The differences between two reports.
struct Changes {
  std::int64_t common = 0, only_now = 0;
  std::vector<ChangedCase> cases;  ///< regressions first, then in the order of `now`
  std::vector<const conformance::CaseReport*> only_before;  ///< cases that are not judged now

  std::int64_t count(Change change) const;
};

/// Compares the cases that have the same id in both reports. The result contains pointers into both
/// reports.
Changes changes_between(const conformance::Results& now, const conformance::Results& before);

/// Returns the changes as JSON for other programs. tools/changes_schema.md describes the members.
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
