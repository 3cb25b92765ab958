#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "assay/engine/algebra/tolerance.hpp"

namespace assay::engine {

/// The sums of one element of an output, or of eight elements. Each sum runs over all pairs and
/// adds a coefficient times an operand.
template <class V>
struct ElementOf {
  V value{}, magnitude{};          ///< sum of c x and of |c x|
  V rigorous{};                    ///< bound of the error of the summands
  V squares{}, shared{};           ///< the same as a mean-free sum, and the part with a mean
  V moment{};                      ///< mean squares times 3 of errors that differ from pair to pair
  V drift{};                       ///< known errors of stores
  double terms = 0;                ///< number of summands, counted with repetitions
  V value_squares{};               ///< sum of (c x)^2
  V partials{};                    ///< sum over the parts of the rows of |sum of c x|
  std::array<V, 2> by_constant{};  ///< A13: sum of c x by_constant
};
using Element = ElementOf<double>;

/// The type of a pair's coefficient in the sum of an element.
template <std::size_t symbols, class V = double>
using PairCoefficient = Coefficient<Tolerance<V, symbols>, V>;

/// A13. Returns 3 times the mean squares of a sum of two errors: one without mean, and one that may
/// have a mean. The bound of the second one counts as three standard deviations.
template <class V>
[[gnu::always_inline]] inline V moment_with(const V& moment, const V& shared) {
  return moment + square(shared) * (1.0 / 3);
}

/// A8. Adds the errors of the row's symbols to an element that sums over the pairs of one row. `by`
/// contains the sums of the derivatives by each symbol.
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

/// A8. An element that sums over the pairs of one row. The error of a symbol is the same number in
/// all pairs, so derivatives keep their signs until all pairs are summed.
template <std::size_t symbols>
class SumWithinRow {
 public:
  /// Adds a pair with operand x. The pair counts `times` times.
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

  /// Returns the element after all pairs were added.
  Element with(const std::array<Symbol, symbols>& of_row) const {
    Element element = sum_;
    add_symbols(element, by_, of_row);
    return element;
  }

 private:
  Element sum_;
  std::array<double, symbols> by_{};
};

/// A9. An element that sums over rows. The symbols of different rows have different errors, so
/// every summand includes the errors of its own row's symbols.
template <std::size_t symbols, class V = double>
class SumOverRows {
 public:
  /// Adds a pair with operand x, from a row with these symbols. The pair counts `times` times.
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
