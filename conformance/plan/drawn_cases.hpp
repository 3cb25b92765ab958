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

/// Random cases of any operator. The generator first chooses a value for each factor (varied
/// property), then makes a case with these values. The random number from which a case is made is
/// called its lot. Each type of case has its own sequence of lots.
namespace assay::conformance {

/// Describes how the random cases of an operator are made. K has one value for each factor (varied
/// property).
template <class Op, class K>
struct Drawn {
  const Factors<Op, K>& factors;
  const ChoiceSpace& space;
  /// Makes a case from random number `lot`. It costs about `budget` multiply-adds (or another unit
  /// of the operator).
  Case<Op> (*draw)(const K& chosen, double budget, std::uint64_t lot);
  /// Cost limits. With n limits, case k gets limit number k mod n.
  std::vector<double> cover_budgets = {0}, random_budgets = {0}, completing_budgets = {0};
  /// A plan gets additional cases for the pairs of values that it lacks. `completing`: values that
  /// all these cases have. `completing_space`: the combinations of values from which they are
  /// drawn; null means `space`.
  Choice completing;
  const ChoiceSpace* completing_space = nullptr;
  /// Returns the smallest cost of a case with these values, in any unit.
  double (*least_cost)(const K& chosen) = nullptr;
  /// Returns whether a case of track bound (comparison with tolerances) counts for pair coverage:
  /// its negative controls (deliberately wrong outputs) must show that it can detect faults.
  bool (*counts)(const Case<Op>&) = [](const Case<Op>&) { return true; };

  /// Returns choices (one value for each factor) that together contain every pair of factor values.
  /// `cover` makes a case from each choice.
  std::vector<Choice> covering(std::uint64_t seed) const {
    return pairwise_cover(space, stream(seed, Stream::sampling).bits(0), {.cost = cost()});
  }
  std::vector<Case<Op>> cover(const SamplingPlan& plan) const {
    return each(plan, covering(plan.seed), cover_budgets, Lots::cover);
  }
  /// Returns small cases of track bound (comparison with tolerances). They contain those pairs of
  /// factor values that occur in no case of `made` with outputs.
  std::vector<Case<Op>> completion(const SamplingPlan& plan, std::span<const Case<Op>> made) const {
    return completion(plan, made, Lots::completion, &pairwise_cover);
  }
  /// Returns small cases of track bound (comparison with tolerances). They contain those triples of
  /// factor values that occur in no case of `made` with outputs.
  std::vector<Case<Op>> completion_of_triples(const SamplingPlan& plan,
                                              std::span<const Case<Op>> made) const {
    return completion(plan, made, Lots::triples, &triple_cover);
  }
  /// Returns cases with randomly chosen factor values. The plan says how many.
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

  /// Makes a few cases with different random sizes, because even an expensive choice of values has
  /// cheap sizes. Returns the first case within the cost limit of the plan; otherwise the cheapest
  /// case.
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
