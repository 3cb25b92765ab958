#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/inputs/random.hpp"
#include "assay/conformance/plan/sampling.hpp"
#include "assay/conformance/suite.hpp"
#include "plan/factors.hpp"
#include "plan/pairwise.hpp"
#include "plan/triples.hpp"

/// Cases drawn from choices of categories, whatever the operator: each kind has a stream of lots of
/// its own.
namespace assay::conformance {

/// What an operator says of its drawn cases; K holds a value of each factor.
template <class Op, class K>
struct Drawn {
  const Factors<Op, K>& factors;
  const ChoiceSpace& space;
  /// The case of a lot, within about `budget` multiply-adds, or what else the operator counts.
  Case<Op> (*draw)(const K& chosen, double budget, std::uint64_t lot);
  /// In turn.
  std::vector<double> cover_budgets, random_budgets, completing_budgets;
  /// What cases that complete a plan have, besides the missing pairs; and among which choices, if
  /// not all, they are found.
  Choice completing;
  const ChoiceSpace* completing_space = nullptr;
  /// The least that a case costs, in any unit.
  double (*least_cost)(const K& chosen) = nullptr;
  /// Whether the pairs of a bound case count: controls will be caught in it.
  bool (*counts)(const Case<Op>&);

  /// The choices of a pairwise cover of all factors, and a case of each.
  std::vector<Choice> covering(std::uint64_t seed) const {
    return pairwise_cover(space, stream(seed, Stream::sampling).bits(0), {.cost = cost()});
  }
  std::vector<Case<Op>> cover(const SamplingPlan& plan) const {
    return each(plan, covering(plan.seed), cover_budgets, Lots::cover);
  }
  /// Small bound cases for the pairs of values on the axes of coverage that no case of `made` with
  /// numbers holds.
  std::vector<Case<Op>> completion(const SamplingPlan& plan, std::span<const Case<Op>> made) const {
    return completion(plan, made, Lots::completion, &pairwise_cover);
  }
  /// As above, for triples of values.
  std::vector<Case<Op>> completion_of_triples(const SamplingPlan& plan,
                                              std::span<const Case<Op>> made) const {
    return completion(plan, made, Lots::triples, &triple_cover);
  }
  /// As many cases of choices made at random as the plan wants.
  std::vector<Case<Op>> random(const SamplingPlan& plan) const {
    const std::uint64_t lots = first_lot(plan, Lots::random);
    std::vector<Choice> choices;
    for (std::int64_t k = 0; k < plan.wanted_random_cases(); ++k)
      choices.push_back(random_choice(space, lots + static_cast<std::uint64_t>(k)));
    return each(plan, choices, random_budgets, Lots::random);
  }

 private:
  using Cover = std::vector<Choice> (*)(const ChoiceSpace&, std::uint64_t seed, const CoverGoal&);
  enum class Lots : std::uint8_t { cover, random, completion, triples };

  std::function<double(const Choice&)> cost() const {
    if (least_cost == nullptr) return {};
    return [this](const Choice& choice) { return least_cost(factors.chosen(choice)); };
  }

  static std::uint64_t first_lot(const SamplingPlan& plan, Lots lots) {
    return stream(plan.seed, Stream::sampling).bits(static_cast<std::uint64_t>(lots));
  }

  std::vector<Case<Op>> completion(const SamplingPlan& plan, std::span<const Case<Op>> made,
                                   Lots lots, Cover cover_of) const {
    std::vector<Choice> known;
    for (const Case<Op>& c : made)
      if (c.track == Track::bound && counts(c)) known.push_back(factors.read(c));
    const CoverGoal goal{
        .factors = factors.axes().size(), .fixed = completing, .known = known, .cost = cost()};
    const ChoiceSpace& among = completing_space != nullptr ? *completing_space : space;
    return each(plan, cover_of(among, first_lot(plan, lots), goal), completing_budgets, lots);
  }

  std::vector<Case<Op>> each(const SamplingPlan& plan, const std::vector<Choice>& choices,
                             const std::vector<double>& budgets, Lots lots) const {
    std::vector<Case<Op>> cases;
    for (const Choice& choice : choices)
      cases.push_back(affordable(plan, factors.chosen(choice),
                                 budgets[cases.size() % budgets.size()],
                                 first_lot(plan, lots) + cases.size()));
    return cases;
  }

  /// The first case of a few lots that costs no more than the plan admits; the cheapest if none
  /// does: what is chosen may be dear, the numbers by which it is tried need not be.
  Case<Op> affordable(const SamplingPlan& plan, const K& chosen, double budget,
                      std::uint64_t lot) const {
    constexpr std::uint64_t attempts = 8, apart = 1'000'000;
    const auto cost = [](const Case<Op>& c) { return Suite<Op>::expected_cost(c); };
    Case<Op> cheapest = draw(chosen, budget, lot);
    for (std::uint64_t k = 1; k < attempts && cost(cheapest) > plan.dearest_drawn_case(); ++k) {
      Case<Op> other = draw(chosen, budget, lot + k * apart);
      if (cost(other) < cost(cheapest)) cheapest = std::move(other);
    }
    return cheapest;
  }
};

}  // namespace assay::conformance
