#pragma once

#include <algorithm>
#include <boost/container/static_vector.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <utility>

#include "assay/conformance/inputs/random.hpp"
#include "plan/pairwise.hpp"

/// Code for covers of pairs and of triples: it completes a choice so that many open cells are
/// covered. `Open` has two functions: gain(choice, factor, value) returns the number of open cells
/// that contain this value and only decided values; gain(choice) returns the number of open cells
/// of a complete choice.
namespace assay::conformance {

/// Sorts values at random if `open` is null; otherwise by descending gain, then at random.
template <class Open>
struct ByLot {
  const Open* open;  ///< null: only by lot
  Random random;

  void operator()(const Choice& choice, std::size_t factor, std::span<std::size_t> values) const {
    struct Candidate {
      int gain;
      std::uint64_t lot;
      std::size_t value;
    };
    boost::container::static_vector<Candidate, 64> candidates;  // the most values of a factor
    for (const std::size_t v : values)
      candidates.push_back({open != nullptr ? open->gain(choice, factor, v) : 0,
                            random.bits((factor + 1) << 16 | v), v});
    std::ranges::sort(candidates, [](const Candidate& a, const Candidate& b) {
      return a.gain != b.gain ? a.gain > b.gain : a.lot < b.lot;
    });
    std::ranges::transform(candidates, values.begin(), &Candidate::value);
  }
};

/// The first of the random numbers (lots) that are used for one choice of a cover.
inline std::uint64_t lot_of(std::uint64_t seed, std::size_t choice) {
  constexpr std::uint64_t lots_per_choice = 64;
  return seed + choice * lots_per_choice;
}

/// Draws a few complete choices that agree with `decided`, which must be feasible. Returns the
/// choice that covers most open cells relative to its cost.
template <class Open>
Choice best_around(const ChoiceSpace& space, const Open& open, const Choice& decided,
                   std::uint64_t first_lot, const std::function<double(const Choice&)>& cost) {
  constexpr std::uint64_t attempts = 20;
  Choice best;
  double most = -1;
  for (std::uint64_t lot = first_lot; lot < first_lot + attempts; ++lot) {
    Choice choice = decided;
    if (!space.complete(choice, lot, ByLot<Open>{&open, stream(lot, Stream::sampling)}))
      throw std::logic_error("a cover: a feasible choice cannot be completed");
    const double gain = open.gain(choice) / (cost ? cost(choice) : 1);
    if (gain > most) most = gain, best = std::move(choice);
  }
  return best;
}

}  // namespace assay::conformance
