#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "assay/engine/algebra/tolerance.hpp"

namespace assay::engine {

/// Sums for one output element, or for several elements in SIMD lanes. The element is a sum over
/// pairs of a coefficient c times an operand x. Sections A8, A9 and A13 of engine/README.md give
/// the formulas.
template <class V>
struct ElementOf {
  V value{}, magnitude{};  ///< sum of c x and of |c x|
  V rigorous{};            ///< bound of the error of the summands
  V squares{}, shared{};   ///< of this error: squares of its random part, bound of the rest
  V moment{};              ///< 3 times the mean squares of the errors that pairs do not share
  V drift{};               ///< sum of the known errors of stores
  double terms = 0;        ///< number of summands, counted with repetitions
  V value_squares{};       ///< sum of (c x)^2
  V partials{};            ///< sum of |sum of c x|, one term for each part of the rows
  std::array<V, 2> by_constant{};  ///< A13: sum of c x by_constant
};
using Element = ElementOf<double>;

/// The coefficient c of one pair in a sum, with its error bounds.
template <std::size_t symbols, class V = double>
using PairCoefficient = Coefficient<Tolerance<V, symbols>, V>;

/// Returns 3 times the mean square of an error with two parts (engine/README.md, A13). The first
/// part has mean 0. The second part may have another mean; its bound `shared` is treated as three
/// standard deviations.
template <class V>
[[gnu::always_inline]] inline V moment_with(const V& moment, const V& shared) {
  return moment + square(shared) * (1.0 / 3);
}

/// Adds the errors of row symbols to one element of an output (engine/README.md, A8). A row symbol
/// is a number that is computed once per row and used by all pairs of the row. `by[k]` is the
/// element's derivative with respect to row symbol k.
template <std::size_t symbols>
inline void add_symbols(Element& element, const std::array<double, symbols>& by,
                        const std::array<Symbol, symbols>& of_row) {
  for (std::size_t k = 0; k < symbols; ++k) {
    const double size = magnitude_of(by[k]), free = square(size * of_row[k].deviation);
    element.rigorous += size * of_row[k].rigorous;
    element.shared += size * of_row[k].shared;
    element.squares += free;
    element.moment += moment_with(free, size * of_row[k].shared);
  }
}

/// Sums one output element over the pairs of one row (engine/README.md, A8). A row symbol (a number
/// computed once per row) has the same error in all pairs, so the class adds its derivatives with
/// their signs and takes the absolute value of the total.
template <std::size_t symbols>
class SumWithinRow {
 public:
  /// Adds a pair with the coefficient c and the operand x. The pair occurs `times` times.
  void add(const PairCoefficient<symbols>& c, double x, double times = 1) {
    const double size = times * magnitude_of(x), squared = square(size);
    const auto& n = c.number;
    sum_.value += n.value * (times * x);
    sum_.magnitude += magnitude_of(n.value) * size;
    sum_.rigorous += n.additive * size;
    sum_.squares += n.squares * squared;
    sum_.moment += moment_with(n.moment, n.shared) * squared;
    sum_.shared += n.shared * size;
    sum_.drift += c.drift * (times * x);
    sum_.terms += times;
    for (std::size_t k = 0; k < symbols; ++k) by_[k] += n.by[k] * (times * x);
  }

  /// Returns the finished element, including the errors of the row symbols. Call this after all
  /// pairs were added.
  Element with(const std::array<Symbol, symbols>& of_row) const {
    Element element = sum_;
    add_symbols(element, by_, of_row);
    return element;
  }

 private:
  Element sum_;
  std::array<double, symbols> by_{};
};

/// Sums one output element over the rows of a key, with one pair from each row (engine/README.md,
/// A9). Numbers computed once per row have independent errors in different rows, so each summand
/// includes the errors of its own row.
template <std::size_t symbols, class V = double>
class SumOverRows {
 public:
  /// Adds a pair with the coefficient c and the operand x. `of_row` holds the errors of the numbers
  /// that were computed once for the pair's row. The pair occurs `times` times.
  [[gnu::always_inline]] void add(const PairCoefficient<symbols, V>& c,
                                  const std::array<Symbol, symbols>& of_row, const V& x,
                                  double times = 1) {
    const V size = times * magnitude_of(x), squared = square(size);
    const auto& n = c.number;
    V free{}, shared = n.shared;
    for (std::size_t k = 0; k < symbols; ++k) {
      free += square(n.by[k] * of_row[k].deviation);
      shared += magnitude_of(n.by[k]) * of_row[k].shared;
    }
    sum_.value += n.value * (times * x);
    sum_.magnitude += magnitude_of(n.value) * size;
    sum_.rigorous += n.rigorous * size;
    sum_.squares += (n.squares + free) * squared;
    sum_.moment += moment_with(V(n.moment + free), shared) * squared;
    sum_.shared += shared * size;
    sum_.drift += c.drift * (times * x);
    sum_.value_squares += square(n.value) * squared;
    sum_.terms += times;
  }
  [[gnu::always_inline]] const ElementOf<V>& element() const { return sum_; }

 private:
  ElementOf<V> sum_;
};

}  // namespace assay::engine
