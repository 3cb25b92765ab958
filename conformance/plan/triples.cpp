#include "plan/triples.hpp"

#include <algorithm>

#include "plan/greedy.hpp"

namespace assay::conformance {
namespace {

/// Number of random choices (one value for each factor). Together they contain most possible
/// triples of values. For each of the other triples, a search decides whether it is possible.
constexpr std::uint64_t lots = 1000;

/// The triples of factor values that no choice contains yet. Such triples are called open.
class OpenTriples {
 public:
  explicit OpenTriples(std::span<const std::size_t> sizes)
      : triples_(sizes), open_(triples_.count(), 1) {}

  const Triples& triples() const { return triples_; }
  bool open(std::size_t number) const { return open_[number] != 0; }
  void close_all_of(const Choice& choice) {
    triples_.visit_held(choice, [&](std::size_t number) { open_[number] = 0; });
  }
  /// Returns how many open triples (triples that no earlier choice contains) consist of value v of
  /// factor f and two decided values of `choice`.
  int gain(const Choice& choice, std::size_t f, std::size_t v) const {
    if (f >= triples_.factors()) return 0;
    std::vector<std::size_t> held;
    for (std::size_t g = 0; g < triples_.factors(); ++g)
      if (g != f && choice[g] != undecided) held.push_back(triples_.value(g, choice[g]));
    const std::size_t value = triples_.value(f, v);
    int gain = 0;
    for (std::size_t i = 0; i < held.size(); ++i)
      for (std::size_t j = i + 1; j < held.size(); ++j)
        gain += open_[Triples::number_in_any_order(value, held[i], held[j])];
    return gain;
  }
  /// Returns how many open triples (triples that no earlier choice contains) a complete choice has.
  int gain(const Choice& choice) const {
    int gain = 0;
    triples_.visit_held(choice, [&](std::size_t number) { gain += open_[number]; });
    return gain;
  }

 private:
  Triples triples_;
  std::vector<std::uint8_t> open_;
};

}  // namespace

Triples::Triples(std::span<const std::size_t> sizes) : sizes_(sizes.begin(), sizes.end()) {
  for (const std::size_t size : sizes_) {
    offsets_.push_back(values_);
    values_ += size;
  }
}

std::vector<bool> admissible_triples(const ChoiceSpace& space, std::size_t factors) {
  const Triples triples(space.sizes().first(std::min(factors, space.sizes().size())));
  std::vector<bool> admissible(triples.count());
  const auto admit = [&](const Choice& choice) {
    triples.visit_held(choice, [&](std::size_t number) { admissible[number] = true; });
  };
  for (std::uint64_t lot = 0; lot < lots; ++lot) admit(random_choice(space, lot));
  triples.visit_all(space.open_choice(), [&](std::size_t number, const Choice& triple) {
    if (admissible[number] || !space.admits(triple)) return;
    if (const auto complete = random_completion(space, triple, number)) admit(*complete);
  });
  return admissible;
}

std::vector<Choice> triple_cover(const ChoiceSpace& space, std::uint64_t seed,
                                 const CoverGoal& goal) {
  OpenTriples open(space.sizes().first(std::min(goal.factors, space.sizes().size())));
  for (const Choice& choice : goal.known) open.close_all_of(choice);
  std::vector<Choice> choices;
  open.triples().visit_all(
      goal.fixed.empty() ? space.open_choice() : goal.fixed,
      [&](std::size_t number, const Choice& triple) {
        if (!open.open(number) || !space.admits(triple) || !space.feasible(triple)) return;
        choices.push_back(
            best_around(space, open, triple, lot_of(seed, choices.size()), goal.cost));
        open.close_all_of(choices.back());
      });
  return choices;
}

}  // namespace assay::conformance
