#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/inputs/random.hpp"
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
  /// Whether the pairs of a bound case count: controls will be caught in it.
  bool (*counts)(const Case<Op>&);

  /// The choices of a pairwise cover of all factors, and a case of each.
  std::vector<Choice> covering(std::uint64_t seed) const {
    return pairwise_cover(space, stream(seed, Stream::sampling).bits(0));
  }
  std::vector<Case<Op>> cover(std::uint64_t seed) const {
    return each(covering(seed), cover_budgets, stream(seed, Stream::sampling).bits(0));
  }
  /// Small bound cases for the pairs of values on the axes of coverage that no case of `plan` with
  /// numbers holds.
  std::vector<Case<Op>> completion(std::uint64_t seed, std::span<const Case<Op>> plan) const {
    return completion(plan, stream(seed, Stream::sampling).bits(2), &pairwise_cover);
  }
  /// As above, for triples of values.
  std::vector<Case<Op>> completion_of_triples(std::uint64_t seed,
                                              std::span<const Case<Op>> plan) const {
    return completion(plan, stream(seed, Stream::sampling).bits(3), &triple_cover);
  }
  /// `count` cases of choices made at random.
  std::vector<Case<Op>> random(std::uint64_t seed, std::int64_t count) const {
    const std::uint64_t lots = stream(seed, Stream::sampling).bits(1);
    std::vector<Choice> choices;
    for (std::int64_t k = 0; k < count; ++k)
      choices.push_back(random_choice(space, lots + static_cast<std::uint64_t>(k)));
    return each(choices, random_budgets, lots);
  }

 private:
  using Cover = std::vector<Choice> (*)(const ChoiceSpace&, std::uint64_t seed, const CoverGoal&);

  std::vector<Case<Op>> completion(std::span<const Case<Op>> plan, std::uint64_t lots,
                                   Cover cover_of) const {
    std::vector<Choice> known;
    for (const Case<Op>& c : plan)
      if (c.track == Track::bound && counts(c)) known.push_back(factors.read(c));
    const CoverGoal goal{.factors = factors.axes().size(), .fixed = completing, .known = known};
    const ChoiceSpace& among = completing_space != nullptr ? *completing_space : space;
    return each(cover_of(among, lots, goal), completing_budgets, lots);
  }

  std::vector<Case<Op>> each(const std::vector<Choice>& choices, const std::vector<double>& budgets,
                             std::uint64_t lots) const {
    std::vector<Case<Op>> cases;
    for (const Choice& choice : choices)
      cases.push_back(draw(factors.chosen(choice), budgets[cases.size() % budgets.size()],
                           lots + cases.size()));
    return cases;
  }
};

}  // namespace assay::conformance
