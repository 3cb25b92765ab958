#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <vector>

#include "assay/conformance/plan/coverage.hpp"
#include "assay/conformance/plan/formula_fields.hpp"
#include "assay/conformance/plan/sizes.hpp"

namespace assay::cli {

/// The requirements and pairs of values of one operator that cases exercise.
struct Coverage {
  conformance::RequirementCoverage requirements;
  conformance::PairCoverage pairs;
  // The values of each size, only for planned cases. A value counts as missing if no plan with the
  // first `seeds_of_sizes` seeds contains it.
  std::vector<conformance::SizeCoverage> sizes;
  std::optional<conformance::RefusableCalls> calls = {};
  std::vector<conformance::FieldCoverage> fields = {};
};

/// The number of seeds whose plans together must contain every legal value of a size that has only
/// a few.
inline constexpr int seeds_of_sizes = 3;

/// Prints every requirement that a call can satisfy or break: how many cases exercise it, in total
/// and on each entry point whose documentation page states it, and how many legal calls a kernel
/// may refuse without a verdict. Then prints the pairs: counts, uncovered pairs, and pairs that are
/// not required, with the requirements that forbid them or another reason. Then the sizes: how many
/// values of each range occur, how many cases exceed the range of short indices, and legal values
/// that never occur. Then the fields that formulas read, and the combinations in which no case
/// depends on them.
void print_coverage(const Coverage& coverage, std::ostream& out);
nlohmann::ordered_json coverage_json(const Coverage& coverage);

}  // namespace assay::cli
