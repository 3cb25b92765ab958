#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/inputs/random.hpp"
#include "plan/pairwise.hpp"

/// Cases drawn from choices of categories, whatever the operator: each kind has a stream of lots of
/// its own.
namespace assay::conformance {

/// The case number `k` of a plan, drawn by lot from what is chosen.
template <class Op>
using CaseDraw = std::function<Case<Op>(const Choice& choice, std::size_t k, std::uint64_t lot)>;

/// The choices of a pairwise cover of all factors.
inline std::vector<Choice> covering_choices(const ChoiceSpace& space, std::uint64_t seed) {
  return pairwise_cover(space, stream(seed, Stream::sampling).bits(0));
}

/// A case of each of these choices.
template <class Op>
std::vector<Case<Op>> draw_each(const std::vector<Choice>& choices, std::uint64_t first_lot,
                                const CaseDraw<Op>& draw) {
  std::vector<Case<Op>> cases;
  for (const Choice& choice : choices)
    cases.push_back(draw(choice, cases.size(), first_lot + cases.size()));
  return cases;
}

/// A case of each of the covering choices.
template <class Op>
std::vector<Case<Op>> draw_cover(const ChoiceSpace& space, std::uint64_t seed,
                                 const CaseDraw<Op>& draw) {
  return draw_each<Op>(covering_choices(space, seed), stream(seed, Stream::sampling).bits(0), draw);
}

/// Cases of the pairs that are missing to `goal`.
template <class Op>
std::vector<Case<Op>> draw_completion(const ChoiceSpace& space, std::uint64_t seed,
                                      const CoverGoal& goal, const CaseDraw<Op>& draw) {
  const std::uint64_t lots = stream(seed, Stream::sampling).bits(2);
  return draw_each<Op>(pairwise_cover(space, lots, goal), lots, draw);
}

/// `count` cases of choices made at random.
template <class Op>
std::vector<Case<Op>> draw_random(const ChoiceSpace& space, std::uint64_t seed, std::int64_t count,
                                  const CaseDraw<Op>& draw) {
  const std::uint64_t lots = stream(seed, Stream::sampling).bits(1);
  std::vector<Choice> choices;
  for (std::int64_t k = 0; k < count; ++k)
    choices.push_back(random_choice(space, lots + static_cast<std::uint64_t>(k)));
  return draw_each<Op>(choices, lots, draw);
}

}  // namespace assay::conformance
