#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "../../each_operator.hpp"
#include "assay/conformance/operators.hpp"
#include "assay/conformance/plan/formula_fields.hpp"
#include "sample_checks.hpp"

/// Tests properties that the default plan of every operator must have.
namespace assay::conformance {
namespace {

template <class Op>
class Plan : public ::testing::Test {
 protected:
  const std::vector<Case<Op>>& cases = testing::default_cases<Op>();
};
TYPED_TEST_SUITE(Plan, tests::EveryOperator, tests::ByOperator);

TYPED_TEST(Plan, IsDeterministicAndChangesWithItsSeed) {
  EXPECT_EQ(sample<TypeParam>({}), this->cases);
  EXPECT_NE(sample<TypeParam>({.seed = 2}), this->cases);
}

TYPED_TEST(Plan, HasAtLeast200ValueCasesAndNoLineTwice) {
  EXPECT_GE(std::ranges::count_if(this->cases, testing::is_value_case<TypeParam>), 200);
  std::set<std::string> lines;
  for (const auto& c : this->cases) EXPECT_TRUE(lines.insert(command_line(c)).second);
}

/// The note of a case is not part of its line, so it is removed before the comparison.
TYPED_TEST(Plan, EveryLineParsesBack) {
  for (auto c : this->cases) {
    c.note.clear();
    EXPECT_EQ(parse_case<TypeParam>(case_words(command_line(c), TypeParam::name)), c);
  }
}

TYPED_TEST(Plan, ExercisesEverySideOfEveryRow) {
  std::set<std::string_view> accepted;
  std::set<std::string> violated;
  for (const auto& c : this->cases) {
    if (!c.violate.empty()) {
      violated.insert(c.violate);
      continue;
    }
    const auto call = call_of(c);
    for (const auto& requirement : TypeParam::requirements())
      if (requirement.applies(call) && requirement.holds(call)) accepted.insert(requirement.id);
  }
  for (const auto& requirement : TypeParam::requirements()) {
    const std::string id(requirement.id);
    EXPECT_TRUE(!requirement.has(spec::Side::accept) || accepted.contains(id)) << id;
    for (const auto& violation : requirement.violations)
      EXPECT_TRUE(violated.contains(id + ":" + std::string(violation.name)))
          << id << ":" << violation.name;
  }
}

TYPED_TEST(Plan, LegalCasesBreakNoRowThatBindsAndViolationsTheirOwn) {
  for (const auto& c : this->cases) {
    const std::string id = c.violate.substr(0, c.violate.find(':'));
    const auto broken = spec::violations(TypeParam::requirements(), call_of(c));
    EXPECT_TRUE(std::ranges::any_of(broken,
                                    [&](const auto* row) {
                                      return id.empty() ? row->binds(c.entry_point, {})
                                                        : row->id == id;
                                    }) != id.empty())
        << command_line(c);
  }
}

TYPED_TEST(Plan, CoversEveryWantedPair) {
  PairCoverage coverage = pair_coverage<TypeParam>();
  for (const auto& c : this->cases)
    if (c.track == Track::bound) cover(coverage, c);
  EXPECT_EQ(coverage.uncovered(), std::vector<std::string>{});
}

/// No case, hand-written or random, may combine two values that are forbidden or meaningless
/// together.
TYPED_TEST(Plan, HoldsNoPairThatIsExcluded) {
  PairCoverage held = pair_coverage<TypeParam>();
  for (const auto& c : this->cases) cover(held, c);
  for (const auto& cell : held.cells)
    if (!cell.forbidden_by.empty() || cell.left_out.starts_with("senseless")) {
      EXPECT_EQ(cell.cases, 0) << cell.text();
    }
}

/// If a size has few legal values, the plans of three consecutive seeds together must contain every
/// value.
TYPED_TEST(Plan, DrawsEveryValueOfSizesOfFew) {
  for (const std::uint64_t first_seed : {1, 20261126}) {
    std::vector<SizeCoverage> sizes;
    for (std::uint64_t seed = first_seed; seed < first_seed + 3; ++seed)
      for (const auto& c : sample<TypeParam>({.seed = seed})) cover(sizes, sizes_of(c));
    for (const SizeCoverage& size : sizes)
      EXPECT_TRUE(size.missing.empty())
          << size.name << " never is " << (size.missing.empty() ? 0 : *size.missing.begin());
  }
}

/// In modes 7 and 8 one sequence has a band mask. The documentation requires that preTokens is at
/// least the number of keys of this sequence (FAG-C69a; for the forward, only in TND). So preTokens
/// cannot mask a key in these modes.
bool masks_nothing(std::string_view field, std::string_view place) {
  return field == "pre_tokens" &&
         (place.find("sparse_mode=7") != place.npos || place.find("sparse_mode=8") != place.npos);
}

/// If a kernel used a wrong value for any field that the formulas read, the result of at least one
/// case would change.
TYPED_TEST(Plan, HasCasesThatDependOnEveryFieldOfTheFormulas) {
  for (const FieldCoverage& field : field_coverage<TypeParam>(this->cases)) {
    EXPECT_GT(field.places, 0) << field.field;
    for (const std::string& place : field.unexcited)
      EXPECT_TRUE(masks_nothing(field.field, place))
          << field.field << " changes nothing in " << place;
  }
}

}  // namespace
}  // namespace assay::conformance
