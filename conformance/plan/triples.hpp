#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "plan/pairwise.hpp"

namespace assay::conformance {

/// Gives a number to each triple of values of three different factors (varied properties).
class Triples {
 public:
  /// `sizes`: the number of values of each factor (varied property).
  explicit Triples(std::span<const std::size_t> sizes);

  /// Returns the largest triple number plus 1. Some smaller numbers are not used.
  std::size_t count() const { return number(values_, values_ + 1, values_ + 2); }
  std::size_t factors() const { return offsets_.size(); }
  /// Returns the index of a factor's value in a common list of the values of all factors.
  std::size_t value(std::size_t factor, std::size_t of) const { return offsets_[factor] + of; }
  /// Returns the number of the triple of value indices a < b < c.
  static std::size_t number(std::size_t a, std::size_t b, std::size_t c) {
    return c * (c - 1) * (c - 2) / 6 + b * (b - 1) / 2 + a;
  }
  static std::size_t number_in_any_order(std::size_t a, std::size_t b, std::size_t c) {
    return number(std::min({a, b, c}), std::max(std::min(a, b), std::min(std::max(a, b), c)),
                  std::max({a, b, c}));
  }

  /// Calls visit(number) for each triple of decided values in `choice`.
  template <class Visitor>
  void visit_held(const Choice& choice, Visitor&& visit) const {
    std::vector<std::size_t> held;
    for (std::size_t f = 0; f < factors(); ++f)
      if (choice[f] != undecided) held.push_back(value(f, choice[f]));
    for (std::size_t i = 0; i < held.size(); ++i)
      for (std::size_t j = i + 1; j < held.size(); ++j)
        for (std::size_t k = j + 1; k < held.size(); ++k) visit(number(held[i], held[j], held[k]));
  }
  /// Calls visit(number, choice) for every triple of values. `choice` has the three values of the
  /// triple; its other values are those of `decided`.
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

/// Returns a list with one entry per triple number: true if an allowed complete choice of `space`
/// contains the triple. Only the first `factors` factors are used.
std::vector<bool> admissible_triples(const ChoiceSpace& space, std::size_t factors);

/// Returns complete choices (one value for each factor) that together contain every possible triple
/// of values of three factors.
std::vector<Choice> triple_cover(const ChoiceSpace& space, std::uint64_t seed,
                                 const CoverGoal& goal);

}  // namespace assay::conformance
