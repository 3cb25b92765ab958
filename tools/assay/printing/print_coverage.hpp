#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <vector>

#include "assay/conformance/plan/coverage.hpp"
#include "assay/conformance/plan/formula_fields.hpp"
#include "assay/conformance/plan/sizes.hpp"

namespace assay::cli {

/// The requirements and pairs of values that the cases of one operator exercise.
struct Coverage {
  conformance::RequirementCoverage requirements;
  conformance::PairCoverage pairs;
  // The values that each size has in planned cases. A value counts as missing if it occurs in none
  // of the plans with the first `seeds_of_sizes` seeds.
  std::vector<conformance::SizeCoverage> sizes;
  std::optional<conformance::RefusableCalls> calls = {};
  std::vector<conformance::FieldCoverage> fields = {};
};

/// If a size has only a few legal values, the plans with this number of seeds must together contain
/// all of them.
inline constexpr int seeds_of_sizes = 3;

/// Prints which parts of the documentation the cases exercise:
/// - for each requirement that a call can satisfy or break, the number of cases that exercise it,
/// in total and on each entry point whose documentation page states it;
/// - the number of legal calls that a kernel may refuse without failing;
/// - the pairs of values: counts, uncovered pairs, and pairs that are not required, each with the
/// reason;
/// - the sizes: how many values of each range occur, how many cases exceed the largest value of a
/// small index type, and legal values that never occur;
/// - the fields that formulas read, and the combinations of fields in which no case depends on
/// them.
void print_coverage(const Coverage& coverage, std::ostream& out);
nlohmann::ordered_json coverage_json(const Coverage& coverage);

}  // namespace assay::cli
