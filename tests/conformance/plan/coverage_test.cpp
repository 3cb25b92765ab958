#include "assay/conformance/plan/coverage.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "../told.hpp"
#include "assay/conformance/plan/sampling.hpp"
#include "assay/conformance/report/sweep.hpp"
#include "operators/flash_attention_score_grad/plan/factors.hpp"

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

TEST(PairCoverage, OfTheDefaultPlanAndOfAFullSweepIsComplete) {
  for (const bool full : {false, true}) {
    const PairCoverage pairs = covered_by(sample<Op>({.full = full}));
    EXPECT_EQ(pairs.uncovered(), std::vector<std::string>{});
    EXPECT_EQ(pairs.covered(), pairs.admissible());
    EXPECT_GT(pairs.admissible(), 1500);
  }
}

TEST(PairCoverage, OfTheDefaultPlanIsCompleteWithoutTheLattice) {
  auto cases = sample<Op>({});
  std::erase_if(cases, [](const FlashCase& c) { return c.track != Track::bound; });
  EXPECT_EQ(covered_by(cases).uncovered(), std::vector<std::string>{});
}

TEST(PairCoverage, NamesTheRowsThatForbidAPair) {
  const PairCoverage pairs = pair_coverage<Op>();
  using Ids = std::vector<std::string>;
  EXPECT_EQ(cell(pairs, "surface=u1 product=a3").forbidden_by, Ids{"FAG-P06"});
  EXPECT_EQ(cell(pairs, "surface=g1 layout=TND").forbidden_by, Ids{"FAG-C30"});
  EXPECT_EQ(cell(pairs, "surface=u3 dtype=fp16").forbidden_by, Ids{"FAG-C27"});
  EXPECT_EQ(cell(pairs, "sparse_mode=7 pse_type=1").forbidden_by, Ids{"FAG-C74"});
  EXPECT_EQ(cell(pairs, "surface=u3 pse_type=2").forbidden_by, Ids{"FAG-C09"});
  EXPECT_EQ(cell(pairs, "layout=BSH sparse_mode=8").forbidden_by, Ids{"FAG-C64"});
  EXPECT_EQ(cell(pairs, "pse_type=0 lengths=empty_q").forbidden_by, Ids{"FAG-C82"});
  EXPECT_EQ(cell(pairs, "surface=u3 product=a3").forbidden_by, Ids{});
  EXPECT_EQ(cell(pairs, "surface=u2 sparse_mode=8").forbidden_by, Ids{});
}

/// Compressed masks of which every sequence brings 4 MiB are not drawn for many sequences.
TEST(PairCoverage, ForbidsByRowsOfTheTableAloneButWhatIsTooLarge) {
  std::set<std::string> ids;
  for (const auto& row : Op::constraints()) ids.emplace(row.id);
  std::set<std::string> too_large;
  for (const auto& cell : pair_coverage<Op>().cells)
    for (const std::string& id : cell.forbidden_by)
      if (id.empty())
        too_large.insert(cell.text());
      else
        EXPECT_TRUE(ids.contains(id)) << cell.text() << ": '" << id << "'";
  std::set<std::string> expected;
  for (const std::string mask : {"mask=compressed_B1SS", "mask=compressed_BNSS"})
    for (const std::string lengths : {"empty_q", "empty_kv", "empty_both", "many"})
      expected.insert(mask + " lengths=" + lengths);
  EXPECT_EQ(too_large, expected);
}

TEST(PairCoverage, CountsWhatACaseHolds) {
  FlashCase c;
  c.surface = spec::FlashSurface::g2;
  c.problem.heads_q = 2;
  c.problem.seq_q = 1;
  const PairCoverage pairs = covered_by({c, c});
  EXPECT_EQ(cell(pairs, "surface=g2 layout=BNSD").cases, 2);
  EXPECT_EQ(cell(pairs, "group=all head_dim=tiles").cases, 2);
  EXPECT_EQ(cell(pairs, "surface=g1 layout=BNSD").cases, 0);
  EXPECT_EQ(cell(pairs, "head_dim=tiles lengths=one_query").cases, 2);
  EXPECT_EQ(pairs.covered(), std::int64_t{flash::axis_count * (flash::axis_count - 1) / 2});
}

TEST(PairCoverage, IsNotEarnedByCasesWithoutNumbers) {
  FlashCase phase1{.track = Track::phase1};
  FlashCase broken = phase1;
  broken.violate = "FAG-C63:nine";
  EXPECT_EQ(covered_by({phase1, broken}).covered(), 0);
}

TEST(PairCoverage, OfASummaryGrowsByCasesThatConformAndHaveNumbers) {
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

TEST(Axes, OfADrawnCaseAreThoseChosen) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const auto cases = flash::cover_cases(seed);
    const auto choices = flash::cover_choices(seed);
    ASSERT_EQ(cases.size(), choices.size());
    for (std::size_t k = 0; k < cases.size(); ++k) {
      const Choice axes = flash::axes_of(cases[k]);
      for (std::size_t f = 0; f < flash::axis_count; ++f)
        EXPECT_EQ(axes[f], choices[k][f])
            << flash::name_of(static_cast<flash::Factor>(f)) << " " << command_line(cases[k]);
    }
  }
}

}  // namespace
}  // namespace assay::conformance
