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

/// Shared code for covering all pairs or all triples of factor values with few choices. It
/// completes a choice so that it contains many open (not yet covered) pairs or triples. `Open` has
/// two functions. gain(choice, factor, value) returns the number of open pairs or triples that
/// consist of this value and decided values. gain(choice) returns the number of open pairs or
/// triples in a complete choice.
namespace assay::conformance {

/// If `open` is null, sorts values in random order. Otherwise sorts by descending gain (number of
/// newly covered pairs or triples), and equal gains in random order.
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

/// Returns the first random number for choice number `choice`. Each choice (one value for each
/// factor) uses several random numbers (lots).
inline std::uint64_t lot_of(std::uint64_t seed, std::size_t choice) {
  constexpr std::uint64_t lots_per_choice = 64;
  return seed + choice * lots_per_choice;
}

/// Makes a few random complete choices (one value for each factor) that contain the values of
/// `decided`. Returns the choice that covers most open (not yet covered) pairs or triples relative
/// to its cost.
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
