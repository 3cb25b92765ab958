#include "plan/triples.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "assay/conformance/operators.hpp"
#include "assay/conformance/plan/coverage.hpp"
#include "assay/conformance/plan/sampling.hpp"
#include "assay/spec/operators.hpp"

namespace assay::conformance {
namespace {

/// Makes five fields with rules that exclude combinations of two or three values. Together the
/// rules exclude more triples than each rule alone.
ChoiceSpace crooked() {
  const auto forbids = [](std::string_view id) { return Reason{Why::forbidden, id}; };
  return {{3, 2, 3, 2, 2},
          {{forbids("A"), {0, 3}, [](const Choice& c) { return c[0] == 1 && c[3] == 0; }},
           {forbids("B"), {1, 3}, [](const Choice& c) { return c[3] == 1 && c[1] == 0; }},
           {forbids("C"), {0, 2, 4}, [](const Choice& c) {
              return c[0] == 2 && c[2] != 1 && c[4] == 1;
            }}}};
}

/// Returns all combinations with a value for every field that `space` admits, by testing each
/// combination.
std::vector<Choice> admitted(const ChoiceSpace& space) {
  std::vector<Choice> all;
  Choice choice(space.sizes().size(), 0);
  for (;;) {
    if (space.admits(choice)) all.push_back(choice);
    std::size_t f = 0;
    while (f < choice.size() && ++choice[f] == space.sizes()[f]) choice[f++] = 0;
    if (f == choice.size()) return all;
  }
}

std::vector<bool> held_by(const std::vector<Choice>& choices, const Triples& triples) {
  std::vector<bool> held(triples.count());
  for (const Choice& choice : choices)
    triples.visit_held(choice, [&](std::size_t number) { held[number] = true; });
  return held;
}

TEST(Triples, NumbersLeaveNoGap) {
  std::size_t next = 0;
  for (std::size_t c = 2; c < 9; ++c)
    for (std::size_t b = 1; b < c; ++b)
      for (std::size_t a = 0; a < b; ++a) EXPECT_EQ(Triples::number(a, b, c), next++);
  const std::size_t sizes[] = {4, 3, 2};
  EXPECT_GE(Triples(sizes).count(), next);
}

TEST(Triples, HaveNumbersOfTheirOwn) {
  const ChoiceSpace space = crooked();
  const Triples triples(space.sizes());
  std::set<std::size_t> numbers;
  std::size_t visited = 0;
  triples.visit_all(space.open_choice(), [&](std::size_t number, const Choice& triple) {
    EXPECT_LT(number, triples.count());
    EXPECT_EQ(std::ranges::count(triple, undecided), 2);
    triples.visit_held(triple, [&](std::size_t held) { EXPECT_EQ(held, number); });
    numbers.insert(number);
    ++visited;
  });
  EXPECT_EQ(visited, 134u) << "expected the triples of ten sets of three factors";
  EXPECT_EQ(numbers.size(), visited);
  EXPECT_EQ(Triples::number_in_any_order(7, 2, 5), Triples::number(2, 5, 7));
  EXPECT_EQ(Triples::number_in_any_order(5, 7, 2), Triples::number(2, 5, 7));
}

TEST(Triples, AreAdmissibleWhereACompleteChoiceHoldsThem) {
  const ChoiceSpace space = crooked();
  EXPECT_EQ(admissible_triples(space, 5), held_by(admitted(space), Triples(space.sizes())));
}

TEST(TripleCover, HoldsEveryAdmissibleTriple) {
  const ChoiceSpace space = crooked();
  const Triples triples(space.sizes());
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto choices = triple_cover(space, seed, {});
    EXPECT_EQ(held_by(choices, triples), held_by(admitted(space), triples));
    EXPECT_LT(2 * choices.size(), 3 * 18u)
        << "expected less than 1.5 times the values of the largest three";
    for (const Choice& choice : choices) EXPECT_TRUE(space.admits(choice));
  }
}

TEST(TripleCover, AddsOnlyNewTuplesAndKeepsFixedValues) {
  const ChoiceSpace space = crooked();
  const auto all = triple_cover(space, 1, {});
  EXPECT_TRUE(triple_cover(space, 2, {.known = all}).empty());
  const Choice fixed = {undecided, undecided, undecided, undecided, 1};
  const auto some = triple_cover(space, 1, {.factors = 4, .fixed = fixed});
  EXPECT_FALSE(some.empty());
  for (const Choice& choice : some) EXPECT_EQ(choice[4], 1u);
}

/// Counts the combinations of values in planned cases. No kernel runs in this test; only a sweep
/// tests kernels.
template <class Op>
PairCoverage planned(const SamplingPlan& plan) {
  PairCoverage coverage = pair_coverage<Op>();
  for (const Case<Op>& c : sample<Op>(plan)) cover(coverage, c);
  return coverage;
}

TEST(FullPlan, HoldsEveryAdmissibleTriple) {
  for (const std::uint64_t seed : {1, 7}) {
    const SamplingPlan plan = {.seed = seed, .full = true};
    spec::for_each_operator([&]<class Op> {
      const PairCoverage coverage = planned<Op>(plan);
      EXPECT_GT(coverage.admissible_triples(), 1000) << Op::name;
      EXPECT_EQ(coverage.covered_triples(), coverage.admissible_triples())
          << Op::name << " with seed " << seed;
    });
  }
}

TEST(DefaultPlan, HoldsMostTriples) {
  spec::for_each_operator([&]<class Op> {
    const PairCoverage coverage = planned<Op>({});
    EXPECT_GE(100 * coverage.covered_triples(), 84 * coverage.admissible_triples()) << Op::name;
    EXPECT_LT(coverage.covered_triples(), coverage.admissible_triples()) << Op::name;
  });
}

}  // namespace
}  // namespace assay::conformance
