#include "plan/pairwise.hpp"

#include <algorithm>
#include <stdexcept>

#include "plan/greedy.hpp"

namespace assay::conformance {
namespace {

/// The pairs (value v of factor f, value w of factor g) that no choice of values contains yet. Such
/// pairs are called open.
class OpenPairs {
 public:
  /// Marks all pairs of values of the first `factors` factors as open (not contained in a choice
  /// yet).
  OpenPairs(std::span<const std::size_t> sizes, std::size_t factors) {
    std::size_t wanted = 0;
    for (const std::size_t size : sizes) {
      offsets_.push_back(values_);
      values_ += size;
      if (offsets_.size() <= factors) wanted = values_;
    }
    open_.assign(values_ * values_, 0);
    for (std::size_t row = 0; row < wanted; ++row)
      std::fill_n(open_.begin() + static_cast<std::ptrdiff_t>(row * values_), wanted, 1);
  }
  bool open(std::size_t f, std::size_t v, std::size_t g, std::size_t w) const {
    return open_[at(f, v, g, w)] != 0;
  }
  void close(std::size_t f, std::size_t v, std::size_t g, std::size_t w) {
    open_[at(f, v, g, w)] = open_[at(g, w, f, v)] = 0;
  }
  void close_all_of(const Choice& choice) {
    for (std::size_t f = 0; f < choice.size(); ++f)
      for (std::size_t g = 0; g < f; ++g)
        if (choice[f] != undecided && choice[g] != undecided) close(f, choice[f], g, choice[g]);
  }
  /// Returns how many open pairs (pairs that no earlier choice contains) consist of value v of
  /// factor f and a decided value of `choice`.
  int gain(const Choice& choice, std::size_t f, std::size_t v) const {
    const std::uint8_t* row = &open_[(offsets_[f] + v) * values_];
    int pairs = 0;
    for (std::size_t g = 0; g < choice.size(); ++g)
      if (g != f && choice[g] != undecided) pairs += row[offsets_[g] + choice[g]];
    return pairs;
  }
  /// Returns how many open pairs (pairs that no earlier choice contains) a complete choice has.
  int gain(const Choice& choice) const {
    int pairs = 0;
    for (std::size_t f = 0; f < choice.size(); ++f) pairs += gain(choice, f, choice[f]);
    return pairs / 2;
  }

 private:
  std::size_t at(std::size_t f, std::size_t v, std::size_t g, std::size_t w) const {
    return (offsets_[f] + v) * values_ + offsets_[g] + w;
  }
  std::vector<std::size_t> offsets_;
  std::size_t values_ = 0;
  std::vector<std::uint8_t> open_;
};

}  // namespace

std::vector<Choice> pairwise_cover(const ChoiceSpace& space, std::uint64_t seed,
                                   const CoverGoal& goal) {
  const auto sizes = space.sizes();
  const std::size_t factors = std::min(goal.factors, sizes.size());
  OpenPairs open(sizes, factors);
  for (const Choice& choice : goal.known) open.close_all_of(choice);
  std::vector<Choice> choices;
  for (std::size_t f = 0; f < factors; ++f)
    for (std::size_t g = f + 1; g < factors; ++g)
      for (std::size_t v = 0; v < sizes[f]; ++v)
        for (std::size_t w = 0; w < sizes[g]; ++w) {
          if (!open.open(f, v, g, w)) continue;
          Choice pair = goal.fixed.empty() ? space.open_choice() : goal.fixed;
          pair[f] = v;
          pair[g] = w;
          if (!space.feasible(pair)) continue;
          choices.push_back(
              best_around(space, open, pair, lot_of(seed, choices.size()), goal.cost));
          open.close_all_of(choices.back());
        }
  return choices;
}

std::optional<Choice> random_completion(const ChoiceSpace& space, Choice choice,
                                        std::uint64_t seed) {
  if (!space.complete(choice, seed, ByLot<OpenPairs>{nullptr, stream(seed, Stream::sampling)}))
    return std::nullopt;
  return choice;
}

Choice random_choice(const ChoiceSpace& space, std::uint64_t seed) {
  auto choice = random_completion(space, space.open_choice(), seed);
  if (!choice) throw std::logic_error("random_choice: no choice is admissible");
  return *std::move(choice);
}

}  // namespace assay::conformance
