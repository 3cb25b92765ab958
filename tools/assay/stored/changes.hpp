#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/conformance/report/results.hpp"

namespace assay::cli {

/// What became of a verdict.
enum class Change : std::uint8_t {
  regression,   ///< contributes something graver to the exit code
  improvement,  ///< something less grave
  other,        ///< another verdict of the same weight
};

/// A case whose verdict is another one than before. Refers to the reports.
struct ChangedCase {
  Change change;
  const conformance::CaseReport *before, *now;
};

/// What two results say of the cases that both have.
struct Changes {
  std::int64_t common = 0, only_now = 0, only_before = 0;
  std::vector<ChangedCase> cases;  ///< regressions first, then in the order of `now`

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
