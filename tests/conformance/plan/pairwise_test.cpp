#include "plan/pairwise.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <set>
#include <stdexcept>

#include "attention/flash/plan/drawn.hpp"
#include "operators/flash_attention_score_grad/traits.hpp"

namespace assay::conformance {
namespace {

std::size_t pairs_of(const std::vector<Choice>& choices, std::size_t f, std::size_t g) {
  std::set<std::pair<std::size_t, std::size_t>> pairs;
  for (const Choice& choice : choices) pairs.insert({choice[f], choice[g]});
  return pairs.size();
}

Reason forbids(std::string_view id) { return {Why::forbidden, id}; }

/// Makes three fields with the values 0 and 1, and two rules. Value 1 of the first field requires
/// value 1 of the last field. Value 1 of the last field excludes value 0 of the middle field.
ChoiceSpace roundabout() {
  return {{2, 2, 2},
          {{forbids("A"), {0, 2}, [](const Choice& c) { return c[0] == 1 && c[2] == 0; }},
           {forbids("B"), {1, 2}, [](const Choice& c) { return c[2] == 1 && c[1] == 0; }},
           {forbids("C"), {0, 1, 2}, [](const Choice& c) {
              return c[0] == 0 && c[1] == 1 && c[2] == 1;
            }}}};
}

Choice of(std::size_t a, std::size_t b, std::size_t c) { return {a, b, c}; }

TEST(PairwiseCover, HoldsEveryPairOfThreeFactorsInAsFewRowsAsThereCanBe) {
  const ChoiceSpace space({3, 3, 2}, {});
  const auto choices = pairwise_cover(space, 1);
  EXPECT_EQ(pairs_of(choices, 0, 1), 9u);
  EXPECT_EQ(pairs_of(choices, 0, 2), 6u);
  EXPECT_EQ(pairs_of(choices, 1, 2), 6u);
  EXPECT_LE(choices.size(), 11u);
}

TEST(PairwiseCover, OmitsExcludedPairs) {
  const ChoiceSpace space = roundabout();
  const auto choices = pairwise_cover(space, 1);
  for (const Choice& choice : choices) {
    EXPECT_TRUE(space.admits(choice));
    EXPECT_EQ(std::ranges::count(choice, undecided), 0);
  }
  EXPECT_TRUE(std::ranges::any_of(choices, [](const Choice& c) { return c[0] == 1; }));
}

TEST(PairwiseCover, AddsOnlyNewTuplesAndKeepsFixedValues) {
  const ChoiceSpace space({3, 3, 2}, {});
  const auto all = pairwise_cover(space, 1);
  EXPECT_TRUE(pairwise_cover(space, 2, {.known = all}).empty());
  const auto fixed = pairwise_cover(space, 1, {.factors = 2, .fixed = of(undecided, undecided, 1)});
  EXPECT_EQ(pairs_of(fixed, 0, 1), 9u);
  for (const Choice& choice : fixed) EXPECT_EQ(choice[2], 1u);
}

TEST(PairwiseCover, UsesExpensiveValuesLessOften) {
  const ChoiceSpace space({6, 6, 2, 2, 4, 4, 3, 3}, {});
  const auto is_dear = [](const Choice& c) { return c[2] == 1 && c[3] == 1; };
  const auto dear = [&](const CoverGoal& goal) {
    const auto choices = pairwise_cover(space, 1, goal);
    EXPECT_EQ(pairs_of(choices, 2, 3), 4u);
    EXPECT_EQ(pairs_of(choices, 0, 1), 36u);
    return std::ranges::count_if(choices, is_dear);
  };
  const auto whatever = dear({});
  EXPECT_GE(whatever, 5);
  EXPECT_LE(dear({.cost = [&](const Choice& c) { return is_dear(c) ? 100.0 : 1.0; }}),
            whatever / 2);
}

TEST(ChoiceSpace, FindsIndirectExclusions) {
  const ChoiceSpace space = roundabout();
  EXPECT_TRUE(space.feasible(of(0, 0, undecided)));
  EXPECT_TRUE(space.admits(of(0, 1, undecided)));
  EXPECT_FALSE(space.admits(of(1, undecided, 0)));
  EXPECT_FALSE(space.feasible(of(1, 0, undecided)));
}

TEST(ChoiceSpace, ReportsTheSmallestSetOfForbiddingRows) {
  const ChoiceSpace space = roundabout();
  using Reasons = std::vector<Reason>;
  EXPECT_EQ(space.blamed(of(1, undecided, 0)), Reasons{forbids("A")});
  EXPECT_EQ(space.blamed(of(1, 0, undecided)), (Reasons{forbids("A"), forbids("B")}));
  EXPECT_EQ(space.blamed(of(0, 1, 1)), Reasons{forbids("C")});
  EXPECT_EQ(space.blamed(of(0, 0, undecided)), Reasons{});
}

TEST(ChoiceSpace, RefusesUnknownFactorsAndMoreThanItHolds) {
  const auto never = [](const Choice&) { return false; };
  EXPECT_THROW(ChoiceSpace({2, 2}, {{forbids("A"), {0, 2}, never}}), std::logic_error);
  EXPECT_THROW(ChoiceSpace({2, 2}, {{forbids("A"), {1, 0}, never}}), std::logic_error);
  EXPECT_NO_THROW(ChoiceSpace({63, 1}, {}));
  EXPECT_THROW(ChoiceSpace({64}, {}), std::logic_error);
  EXPECT_THROW(ChoiceSpace({2, 0}, {}), std::logic_error);
  EXPECT_THROW(ChoiceSpace(std::vector<std::size_t>(65, 2), {}), std::logic_error);
}

TEST(RandomChoice, MissingAdmissibleValueIsAnError) {
  const ChoiceSpace space({2, 2}, {{forbids("A"), {0}, [](const Choice&) { return true; }}});
  EXPECT_THROW(random_choice(space, 1), std::logic_error);
}

TEST(RandomChoice, IsAdmissibleAndChangesWithItsSeed) {
  std::set<Choice> choices;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    choices.insert(random_choice(flash::choice_space<spec::FlashAttentionScoreGrad>(), seed));
    EXPECT_TRUE(flash::choice_space<spec::FlashAttentionScoreGrad>().admits(*choices.rbegin()));
  }
  EXPECT_GE(choices.size(), 49u);
}

/// Measures the shortest processor time of a few runs, because other programs also use the machine
/// and its caches.
TEST(PairwiseCover, WholeFamilyIsCoveredWithinASecond) {
  constexpr int runs = 5;
  double seconds = HUGE_VAL;
  for (int k = 0; k < runs && seconds >= 1.0; ++k) {
    const std::clock_t start = std::clock();
    EXPECT_LE(pairwise_cover(flash::choice_space<spec::FlashAttentionScoreGrad>(), 1).size(), 400u);
    seconds = std::min(seconds, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  EXPECT_LT(seconds, 1.0);
}

}  // namespace
}  // namespace assay::conformance
