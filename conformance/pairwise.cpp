#include "pairwise.hpp"

#include <algorithm>
#include <stdexcept>

#include "assay/conformance/random.hpp"

namespace assay::conformance {
namespace {

/// The pairs (value v of factor f, value w of factor g) that no choice holds yet.
class OpenPairs {
 public:
  explicit OpenPairs(std::span<const std::size_t> sizes) {
    for (const std::size_t size : sizes) {
      offsets_.push_back(values_);
      values_ += size;
    }
    open_.assign(values_ * values_, true);
  }
  bool open(std::size_t f, std::size_t v, std::size_t g, std::size_t w) const {
    return open_[at(f, v, g, w)];
  }
  void close(std::size_t f, std::size_t v, std::size_t g, std::size_t w) {
    open_[at(f, v, g, w)] = false;
    open_[at(g, w, f, v)] = false;
  }
  /// Open pairs of a complete choice.
  int gain(const Choice& choice) const {
    int pairs = 0;
    for (std::size_t f = 0; f < choice.size(); ++f) pairs += gain(choice, f, choice[f]);
    return pairs / 2;
  }
  void close_all_of(const Choice& choice) {
    for (std::size_t f = 0; f < choice.size(); ++f)
      for (std::size_t g = 0; g < f; ++g) close(f, choice[f], g, choice[g]);
  }
  /// Open pairs of value v of factor f with what `choice` has decided.
  int gain(const Choice& choice, std::size_t f, std::size_t v) const {
    int pairs = 0;
    for (std::size_t g = 0; g < choice.size(); ++g)
      if (g != f && choice[g] != undecided && open(f, v, g, choice[g])) ++pairs;
    return pairs;
  }

 private:
  std::size_t at(std::size_t f, std::size_t v, std::size_t g, std::size_t w) const {
    return (offsets_[f] + v) * values_ + offsets_[g] + w;
  }
  std::vector<std::size_t> offsets_;
  std::size_t values_ = 0;
  std::vector<bool> open_;
};

struct Search {
  std::span<const std::size_t> sizes;
  const Admissible& admissible;
  const OpenPairs* open;  ///< null: any order of values will do
  Random random;

  /// Decides the undecided factors in an order by lot; false if that cannot be done.
  bool complete(Choice& choice) const {
    std::vector<std::size_t> factors;
    for (std::size_t f = 0; f < sizes.size(); ++f)
      if (choice[f] == undecided) factors.push_back(f);
    std::ranges::sort(factors, {}, [&](std::size_t f) { return random.bits(f); });
    return complete(choice, factors);
  }

  bool complete(Choice& choice, std::span<const std::size_t> factors) const {
    if (factors.empty()) return true;
    for (const std::size_t value : order(choice, factors[0])) {
      choice[factors[0]] = value;
      if (admissible(choice) && complete(choice, factors.subspan(1))) return true;
    }
    choice[factors[0]] = undecided;
    return false;
  }

  /// The values of a factor, those that close most pairs first.
  std::vector<std::size_t> order(const Choice& choice, std::size_t factor) const {
    struct Candidate {
      int gain;
      std::uint64_t lot;
      std::size_t value;
    };
    std::vector<Candidate> candidates;
    for (std::size_t v = 0; v < sizes[factor]; ++v)
      candidates.push_back({open != nullptr ? open->gain(choice, factor, v) : 0,
                            random.bits((factor + 1) << 16 | v), v});
    std::ranges::sort(candidates, [](const Candidate& a, const Candidate& b) {
      return a.gain != b.gain ? a.gain > b.gain : a.lot < b.lot;
    });
    std::vector<std::size_t> values;
    for (const Candidate& candidate : candidates) values.push_back(candidate.value);
    return values;
  }
};

}  // namespace

std::vector<Choice> pairwise_cover(std::span<const std::size_t> sizes, const Admissible& admissible,
                                   std::uint64_t seed) {
  constexpr std::uint64_t attempts = 30;
  OpenPairs open(sizes);
  std::vector<Choice> choices;
  const auto cover = [&](const Choice& pair) {
    if (!admissible(pair)) return;
    Choice best;
    int most = 0;
    for (std::uint64_t attempt = 0; attempt < attempts; ++attempt) {
      const std::uint64_t lot = seed + choices.size() * attempts + attempt;
      Choice choice = pair;
      if (!Search{sizes, admissible, &open, stream(lot, Stream::sampling)}.complete(choice)) return;
      if (open.gain(choice) <= most) continue;
      most = open.gain(choice);
      best = std::move(choice);
    }
    open.close_all_of(best);
    choices.push_back(std::move(best));
  };
  for (std::size_t f = 0; f < sizes.size(); ++f)
    for (std::size_t g = f + 1; g < sizes.size(); ++g)
      for (std::size_t v = 0; v < sizes[f]; ++v)
        for (std::size_t w = 0; w < sizes[g]; ++w) {
          if (!open.open(f, v, g, w)) continue;
          Choice pair(sizes.size(), undecided);
          pair[f] = v;
          pair[g] = w;
          cover(pair);
        }
  return choices;
}

Choice random_choice(std::span<const std::size_t> sizes, const Admissible& admissible,
                     std::uint64_t seed) {
  Choice choice(sizes.size(), undecided);
  const Search search{sizes, admissible, nullptr, stream(seed, Stream::sampling)};
  if (!search.complete(choice)) throw std::logic_error("random_choice: nothing is admissible");
  return choice;
}

}  // namespace assay::conformance
