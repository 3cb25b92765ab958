#include "assay/conformance/plan/coverage.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <type_traits>

#include "../printed.hpp"
#include "assay/conformance/plan/sampling.hpp"
#include "assay/conformance/sweep/sweep.hpp"
#include "attention/flash/plan/drawn.hpp"
#include "compression/plan/factors.hpp"
#include "operators/flash_attention_score_grad/traits.hpp"
#include "operators/nsa_compress_grad/traits.hpp"
#include "operators/nsa_selected_attention_grad/traits.hpp"
#include "selection/plan/factors.hpp"

namespace assay::conformance {
namespace {

using Op = spec::FlashAttentionScoreGrad;
using FlashCase = Case<Op>;

PairCoverage covered_by(const std::vector<FlashCase>& cases) {
  PairCoverage pairs = pair_coverage<Op>();
  for (const FlashCase& c : cases) cover(pairs, c);
  return pairs;
}

const PairCoverage::Cell& cell(const PairCoverage& pairs, const std::string& text) {
  const auto found = std::ranges::find(pairs.cells, text, &PairCoverage::Cell::text);
  if (found == pairs.cells.end()) throw std::logic_error("no pair " + text);
  return *found;
}

TEST(PairCoverage, IsCompleteForTheDefaultPlanAndAFullSweep) {
  for (const bool full : {false, true}) {
    const PairCoverage pairs = covered_by(sample<Op>({.full = full}));
    EXPECT_EQ(pairs.uncovered(), std::vector<std::string>{});
    EXPECT_EQ(pairs.covered(), pairs.admissible());
    EXPECT_GT(pairs.admissible(), 1500);
  }
}

TEST(PairCoverage, NamesTheRequirementsThatForbidAPair) {
  const PairCoverage pairs = pair_coverage<Op>();
  using Ids = std::vector<std::string>;
  EXPECT_EQ(cell(pairs, "entry_point=u1 product=a3").forbidden_by, Ids{"FAG-P06"});
  EXPECT_EQ(cell(pairs, "entry_point=g1 layout=TND").forbidden_by, Ids{"FAG-C30"});
  EXPECT_EQ(cell(pairs, "entry_point=u3 dtype=fp16").forbidden_by, Ids{"FAG-C27"});
  EXPECT_EQ(cell(pairs, "entry_point=u3 pse_type=2").forbidden_by, Ids{"FAG-C09"});
  EXPECT_EQ(cell(pairs, "entry_point=g1 sparse_mode=8").forbidden_by, Ids{"FAG-C64"});
  EXPECT_EQ(cell(pairs, "layout=BSH sparse_mode=8").forbidden_by, (Ids{"FAG-C31", "FAG-C64"}));
  EXPECT_EQ(cell(pairs, "entry_point=g1 lengths=many").forbidden_by, Ids{"FAG-C30"});
}

/// The plan must contain all pairs of values that are legal together. Two types of requirements do
/// not make a pair illegal: disputed requirements (the documentation contradicts itself), and
/// requirements that apply only to some layouts.
TEST(PairCoverage, RequiresEveryPairOfALegalCall) {
  const PairCoverage pairs = pair_coverage<Op>();
  for (const char* text : {"entry_point=u3 product=a3", "entry_point=u2 sparse_mode=8",
                           "entry_point=g1 head_dim=widest", "entry_point=u1 sparse_mode=5",
                           "layout=TND sparse_mode=5", "mask=B1SS lengths=unequal",
                           "pse_type=2 lengths=shorter_q", "sparse_mode=5 lengths=many"})
    EXPECT_TRUE(cell(pairs, text).is_asked()) << text;
}

TEST(PairCoverage, ListsNoRequirementForMeaninglessOrUnjudgeablePairs) {
  const PairCoverage pairs = pair_coverage<Op>();
  const auto kind = [&](const std::string& text) {
    const auto& left_out = cell(pairs, text).left_out;
    return left_out.substr(0, left_out.find(':'));
  };
  EXPECT_EQ(kind("layout=BSH lengths=single"), "senseless");
  EXPECT_EQ(kind("entry_point=g1 pse_type=0"), "senseless");
  EXPECT_EQ(kind("layout=BSH lengths=empty_q"), "fruitless");
  EXPECT_EQ(kind("sparse_mode=7 pse_type=1"), "fruitless");
  EXPECT_EQ(kind("mask=compressed_BNSS lengths=many"), "costly");
}

/// Compressed masks need 4 MiB per sequence, so the plan does not combine them with many sequences.
TEST(PairCoverage, ListsOnlyTheRequirementsThatForbidAPair) {
  std::set<std::string> ids;
  for (const auto& requirement : Op::requirements()) ids.emplace(requirement.id);
  std::set<std::string> costly;
  for (const auto& cell : pair_coverage<Op>().cells) {
    for (const std::string& id : cell.forbidden_by)
      EXPECT_TRUE(ids.contains(id)) << cell.text() << ": '" << id << "'";
    if (cell.left_out.starts_with("costly: ")) costly.insert(cell.text());
  }
  std::set<std::string> expected;
  for (const std::string mask : {"mask=compressed_B1SS", "mask=compressed_BNSS"})
    for (const std::string lengths : {"empty_q", "empty_kv", "empty_both", "many"})
      expected.insert(mask + " lengths=" + lengths);
  EXPECT_EQ(costly, expected);
}

TEST(PairCoverage, CountsWhatACaseHolds) {
  FlashCase c;
  c.entry_point = spec::FlashEntryPoint::g2;
  c.problem.heads_q = 2;
  c.problem.seq_q = 1;
  const PairCoverage pairs = covered_by({c, c});
  EXPECT_EQ(cell(pairs, "entry_point=g2 layout=BNSD").cases, 2);
  EXPECT_EQ(cell(pairs, "group=all head_dim=tiles").cases, 2);
  EXPECT_EQ(cell(pairs, "entry_point=g1 layout=BNSD").cases, 0);
  EXPECT_EQ(cell(pairs, "head_dim=tiles lengths=one_query").cases, 2);
  EXPECT_EQ(pairs.covered(), std::ssize(flash::factors<Op>().axes()) *
                                 (std::ssize(flash::factors<Op>().axes()) - 1) / 2);
}

TEST(PairCoverage, NeedsNumericallyJudgedCases) {
  FlashCase phase1{.track = Track::arguments};
  FlashCase broken = phase1;
  broken.violate = "FAG-C63:nine";
  EXPECT_EQ(covered_by({phase1, broken}).covered(), 0);
}

TEST(PairCoverage, SummaryCountsOnlyConformingCases) {
  const FlashCase c;
  CaseReport report{.operator_name = std::string(Op::name),
                    .command_line = command_line(c),
                    .value_case = true,
                    .verdict = testing::decided(Verdict::conforms_weak)};
  Summary summary;
  summary.pairs = pair_coverage<Op>();
  count(summary, report);
  EXPECT_EQ(summary.pairs.covered(), 0);
  report.verdict = testing::decided(Verdict::conforms);
  count(summary, report);
  EXPECT_EQ(summary.pairs.covered(), covered_by({c}).covered());
  report.command_line = "flash_attention_score_grad --gone=1";
  EXPECT_NO_THROW(count(summary, report));
}

/// Returns the expected cost (seconds) of the random cases that cover all required combinations of
/// values.
template <class Drawn>
double cost_of_cover(const Drawn& drawn, bool full) {
  double seconds = 0;
  for (const auto& c : drawn.cover({.full = full}))
    seconds += Suite<typename std::decay_t<decltype(c)>::Operator>::expected_cost(c);
  return seconds;
}

TEST(DrawnCases, DefaultPlanIsCheaperThanAFullOne) {
  EXPECT_LT(cost_of_cover(flash::drawn<Op>(), false),
            0.9 * cost_of_cover(flash::drawn<Op>(), true));
  EXPECT_LT(cost_of_cover(selection::drawn<spec::NsaSelectedAttentionGrad>(), false),
            0.9 * cost_of_cover(selection::drawn<spec::NsaSelectedAttentionGrad>(), true));
  EXPECT_LT(cost_of_cover(compression::drawn<spec::NsaCompressGrad>(), false),
            0.9 * cost_of_cover(compression::drawn<spec::NsaCompressGrad>(), true));
}

TEST(Axes, DrawnCasesHaveTheChosenValues) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const auto cases = flash::drawn<Op>().cover({.seed = seed});
    const auto choices = flash::drawn<Op>().covering(seed);
    ASSERT_EQ(cases.size(), choices.size());
    for (std::size_t k = 0; k < cases.size(); ++k) {
      const Choice values = flash::factors<Op>().read(cases[k]);
      for (std::size_t f = 0; f < flash::factors<Op>().axes().size(); ++f)
        EXPECT_EQ(values[f], choices[k][f])
            << flash::factors<Op>().axes()[f].name << " " << command_line(cases[k]);
    }
  }
}

}  // namespace
}  // namespace assay::conformance
