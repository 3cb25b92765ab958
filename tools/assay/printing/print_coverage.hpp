#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <vector>

#include "assay/conformance/plan/coverage.hpp"
#include "assay/conformance/plan/formula_fields.hpp"
#include "assay/conformance/plan/sizes.hpp"

namespace assay::cli {

/// What cases exercised of one operator's requirements and pairs of values.
struct Coverage {
  conformance::RequirementCoverage requirements;
  conformance::PairCoverage pairs;
  // Of planned cases alone: sizes, the missing values those that no seed of `seeds_of_sizes` draws.
  std::vector<conformance::SizeCoverage> sizes;
  std::optional<conformance::RefusableCalls> calls = {};
  std::vector<conformance::FieldCoverage> fields = {};
};

/// So many seeds have to draw every legal value of a size that has few.
inline constexpr int seeds_of_sizes = 3;

/// Every requirement that has a side to exercise, in all and on each entry point whose page states
/// it, and how many legal calls a kernel may refuse without a verdict; then the pairs: numbers,
/// those uncovered, those that are not asked for by the requirements that forbid them or what else
/// leaves them out; then the sizes: how many numbers of each range are taken, how many cases go
/// beyond what short indices count, and legal values that are never drawn; then the fields that
/// formulas read, and where no case depends on them.
void print_coverage(const Coverage& coverage, std::ostream& out);
nlohmann::ordered_json coverage_json(const Coverage& coverage);

}  // namespace assay::cli
