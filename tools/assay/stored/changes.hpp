#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/report/results.hpp"

namespace assay::cli {

/// What became of a verdict.
enum class Change : std::uint8_t {
  regression,   ///< for a reason, see `ChangedCase`
  improvement,  ///< contributes something less grave to the exit code
  other,        ///< another verdict of the same weight
};

/// A case of which less good is known than before, or another verdict. Refers to the reports.
struct ChangedCase {
  Change change;
  /// Of a regression: "worse" (it contributes something graver to the exit code), "no longer
  /// judged", "new" (it fails, and was not there before); else empty.
  std::string_view why;
  const conformance::CaseReport* before;  ///< null for a new one
  const conformance::CaseReport* now;
};

/// What became of the cases of two results.
struct Changes {
  std::int64_t common = 0, only_now = 0;
  std::vector<ChangedCase> cases;  ///< regressions first, then in the order of `now`
  std::vector<const conformance::CaseReport*> only_before;  ///< nobody judged them now

  std::int64_t count(Change change) const;
};

/// Cases are the same where their ids are. Refers to both.
Changes changes_between(const conformance::Results& now, const conformance::Results& before);

/// For programs; its members are described in tools/changes_schema.md.
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
