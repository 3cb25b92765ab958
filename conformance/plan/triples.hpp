#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "plan/pairwise.hpp"

namespace assay::conformance {

/// Numbers the triples of values of three different factors.
class Triples {
 public:
  /// `sizes`: the number of values of each factor.
  explicit Triples(std::span<const std::size_t> sizes);

  /// The largest triple number plus 1. Some smaller numbers belong to no triple.
  std::size_t count() const { return number(values_, values_ + 1, values_ + 2); }
  std::size_t factors() const { return offsets_.size(); }
  /// The index of a factor's value among the values of all factors.
  std::size_t value(std::size_t factor, std::size_t of) const { return offsets_[factor] + of; }
  /// The number of a triple of values a < b < c.
  static std::size_t number(std::size_t a, std::size_t b, std::size_t c) {
    return c * (c - 1) * (c - 2) / 6 + b * (b - 1) / 2 + a;
  }
  static std::size_t number_in_any_order(std::size_t a, std::size_t b, std::size_t c) {
    return number(std::min({a, b, c}), std::max(std::min(a, b), std::min(std::max(a, b), c)),
                  std::max({a, b, c}));
  }

  /// Calls visit(number) for each triple of values that `choice` has decided.
  template <class Visitor>
  void visit_held(const Choice& choice, Visitor&& visit) const {
    std::vector<std::size_t> held;
    for (std::size_t f = 0; f < factors(); ++f)
      if (choice[f] != undecided) held.push_back(value(f, choice[f]));
    for (std::size_t i = 0; i < held.size(); ++i)
      for (std::size_t j = i + 1; j < held.size(); ++j)
        for (std::size_t k = j + 1; k < held.size(); ++k) visit(number(held[i], held[j], held[k]));
  }
  /// Calls visit(number, choice) for each triple. `choice` has the values of the triple, and
  /// otherwise those of `decided`.
  template <class Visitor>
  void visit_all(const Choice& decided, Visitor&& visit) const {
    Choice open = decided;
    for (std::size_t f = 0; f < factors(); ++f)
      for (std::size_t g = f + 1; g < factors(); ++g)
        for (std::size_t h = g + 1; h < factors(); ++h) {
          for (std::size_t v = 0; v < sizes_[f]; ++v)
            for (std::size_t w = 0; w < sizes_[g]; ++w)
              for (std::size_t x = 0; x < sizes_[h]; ++x) {
                open[f] = v, open[g] = w, open[h] = x;
                visit(number(value(f, v), value(g, w), value(h, x)), std::as_const(open));
              }
          open = decided;
        }
  }

 private:
  std::vector<std::size_t> sizes_, offsets_;
  std::size_t values_ = 0;
};

/// For each triple of the first `factors` factors, by its number: whether a complete choice of
/// `space` contains the triple.
std::vector<bool> admissible_triples(const ChoiceSpace& space, std::size_t factors);

/// Does the same as `pairwise_cover` for triples of values of three factors.
std::vector<Choice> triple_cover(const ChoiceSpace& space, std::uint64_t seed,
                                 const CoverGoal& goal);

}  // namespace assay::conformance
