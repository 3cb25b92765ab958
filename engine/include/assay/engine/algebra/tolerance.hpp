#pragma once

#include <array>
#include <cstddef>

#include "assay/engine/algebra/reading.hpp"
#include "assay/engine/algebra/store.hpp"
#include "assay/engine/lanes.hpp"

namespace assay::engine {

/// The error of a number that is computed once for a row; at most `rigorous` in magnitude. The
/// error is the sum of rounding errors with mean 0, whose squared bounds add up to deviation^2, and
/// of another error of at most `shared`.
struct Symbol {
  double rigorous = 0, deviation = 0, shared = 0;
};

/// A number of a kernel: its exact value and the bounds of its error (README, A1). V is double or
/// Lanes. The number depends on `symbols` numbers that were computed for the row:
///
///     error = sum over k of by[k] * (error of symbol k) + the rest
///
/// `rigorous` bounds the whole error, `additive` bounds the rest. If rounding errors have mean 0,
/// the rest is their sum plus a part of at most `shared`. Their squared bounds add up to `squares`;
/// `moment` is 3 times the sum of their mean squares.
template <class V, std::size_t symbols>
struct Tolerance {
  V value{}, rigorous{}, additive{}, squares{}, moment{}, shared{};
  std::array<V, symbols> by{};
};

/// README A5: sums and differences: the bounds add up; derivatives are added with their signs.
template <class V, std::size_t n>
[[gnu::always_inline]] inline Tolerance<V, n> operator+(const Tolerance<V, n>& x,
                                                        const Tolerance<V, n>& y) {
  Tolerance<V, n> sum = {x.value + y.value,     x.rigorous + y.rigorous, x.additive + y.additive,
                         x.squares + y.squares, x.moment + y.moment,     x.shared + y.shared};
  for (std::size_t k = 0; k < n; ++k) sum.by[k] = x.by[k] + y.by[k];
  return sum;
}
template <class V, std::size_t n>
[[gnu::always_inline]] inline Tolerance<V, n> operator-(const Tolerance<V, n>& x) {
  Tolerance<V, n> negated = x;
  negated.value = -x.value;
  for (std::size_t k = 0; k < n; ++k) negated.by[k] = -x.by[k];
  return negated;
}
template <class V, std::size_t n>
[[gnu::always_inline]] inline Tolerance<V, n> operator-(const Tolerance<V, n>& x,
                                                        const Tolerance<V, n>& y) {
  return x + (-y);
}

/// README A5: multiplication by an exact factor.
template <class V, std::size_t n>
[[gnu::always_inline]] inline Tolerance<V, n> operator*(const Tolerance<V, n>& x, const V& factor) {
  const V size = magnitude_of(factor), squared = square(factor);
  Tolerance<V, n> product = {x.value * factor,    x.rigorous * size,  x.additive * size,
                             x.squares * squared, x.moment * squared, x.shared * size};
  for (std::size_t k = 0; k < n; ++k) product.by[k] = x.by[k] * factor;
  return product;
}

/// README A5: a product. The first-order error follows the product rule; the second-order error is
/// added to all bounds.
template <class V, std::size_t n>
[[gnu::always_inline]] inline Tolerance<V, n> operator*(const Tolerance<V, n>& x,
                                                        const Tolerance<V, n>& y) {
  const V a = magnitude_of(x.value), b = magnitude_of(y.value);
  const V a2 = square(a), b2 = square(b), second = x.rigorous * y.rigorous;
  Tolerance<V, n> product = {x.value * y.value,
                             a * y.rigorous + b * x.rigorous + second,
                             a * y.additive + b * x.additive + second,
                             a2 * y.squares + b2 * x.squares,
                             a2 * y.moment + b2 * x.moment,
                             a * y.shared + b * x.shared + second};
  for (std::size_t k = 0; k < n; ++k) product.by[k] = x.value * y.by[k] + y.value * x.by[k];
  return product;
}

/// Evaluates a formula and bounds its error: every rounding that the formula declares enlarges the
/// bounds.
template <class V, std::size_t symbols>
class ToleranceReading {
 public:
  using Real = V;
  using Number = Tolerance<V, symbols>;

  /// `of_row` contains the row symbols of the row whose pairs are evaluated.
  ToleranceReading(const Units& units, const std::array<Symbol, symbols>& of_row)
      : units_(units), of_row_(of_row) {}

  [[gnu::always_inline]] Number exact(const V& x) const { return {.value = x}; }

  /// Returns the number x with an error of at most that size.
  [[gnu::always_inline]] Number given(const V& x, const Symbol& error) const {
    return {.value = x,
            .rigorous = filled<V>(error.rigorous),
            .additive = filled<V>(error.rigorous),
            .squares = filled<V>(square(error.deviation)),
            .moment = filled<V>(square(error.deviation)),
            .shared = filled<V>(error.shared)};
  }

  /// README A1: until all pairs are summed, the first-order error of a symbol is stored only as the
  /// derivative with respect to it, in `by`.
  [[gnu::always_inline]] Number symbol(std::size_t k, const V& x) const {
    Number number = {.value = x, .rigorous = filled<V>(of_row_[k].rigorous)};
    number.by[k] = filled<V>(1.0);
    return number;
  }

  /// A4.
  [[gnu::always_inline]] Number dot(const Products<V>& of, double terms) const {
    const double u = units_.u_sum;
    const V worst = of.magnitudes * worst_dot(units_, terms);
    Number number = {.value = of.sum, .shared = of.magnitudes * units_.operands};
    number.rigorous = worst + number.shared;
    number.additive = number.rigorous;
    if (units_.truncating) {
      number.shared += worst;
    } else {
      number.squares = square(of.magnitudes * mean_free_dot(units_, terms));
    }
    number.moment = u * u * ((terms / 2 + 1) * of.squares + (terms / 3) * square(of.sum)) +
                    square(units_.operand_deviation * of.magnitudes);
    return number;
  }

  /// `mean_squares` is the sum of the mean squares of the rounded numbers, a term per rounding.
  /// The overload without this argument uses the largest possible value.
  [[gnu::always_inline]] Number rounded(const Number& x, const V& size, double times, Level level,
                                        const V& mean_squares) const {
    const V error = (times * units_.u) * size;
    Number number = x;
    number.rigorous += error;
    number.additive += error;
    if (level == Level::pair) {
      number.squares += square(error);
      number.moment += (units_.u * units_.u) * mean_squares;
    } else {
      number.shared += error;
    }
    return number;
  }
  [[gnu::always_inline]] Number rounded(const Number& x, const V& size, double times,
                                        Level level) const {
    return rounded(x, size, times, level, square(times * size));
  }

  /// A6.
  [[gnu::always_inline]] Number exponential(const Number& x, const V& z, double error) const {
    const V p = engine::exponential(x.value) / z, squared = square(p);
    const V rho = growth_at(x.value, V(x.rigorous + error));
    Number number = {.value = p, .rigorous = p * rho};
    number.additive = p * larger_of(rho - (x.rigorous - x.additive), x.additive);
    number.squares = squared * x.squares;
    number.moment = squared * x.moment;
    number.shared = p * (x.shared + error + square(rho));
    for (std::size_t k = 0; k < symbols; ++k) number.by[k] = p * x.by[k];
    return number;
  }

  [[gnu::always_inline]] Number residue(const Number& x, double phi) const {
    Number number = x;
    number.rigorous += phi;
    number.additive += phi;
    number.shared += phi;
    return number;
  }

  /// A7.
  [[gnu::always_inline]] Number stored(const Number& x, const Store& store) const {
    return stored(x, store, magnitude(x));
  }
  [[gnu::always_inline]] Number stored(const Number& x, const Store& store, const V& size) const {
    if (!store.rounds()) return x;
    const V error = store.error(size);
    return with_store(x, error, error);
  }
  /// README A7: stores x like `stored`, for a kernel that may multiply x by an unknown factor of at
  /// least 1, store the product, and divide by the factor later.
  [[gnu::always_inline]] Number stored_at_any_scale(const Number& x, const Store& store) const {
    if (!store.rounds()) return x;
    const V error = store.error_at_any_scale(magnitude(x));
    return with_store(x, error, error);
  }
  [[gnu::always_inline]] V overflows(const Number& x, const Store& store) const {
    return store.watches_overflow() ? store.overflows(magnitude(x)) : V{};
  }

  /// README A7. The test R (the root mean square of error / sigma) compares outputs with the
  /// reference. Therefore `moment` contains only the rounding of the exact value. If the number is
  /// exact, its rounding error is known: it is part of the drift, not of the random error.
  [[gnu::always_inline]] Coefficient<Number, V> staged(const Number& x, const Store& store) const {
    if (!store.rounds()) return {x, V{}};
    const V typical = x.rigorous == 0.0 && store.drifts() ? V{} : store.error(size(x));
    const Number rounded = with_store(x, store.error(magnitude(x)), typical);
    return {rounded, store.drift(x.value, noise(x)), overflows(x, store)};
  }

  [[gnu::always_inline]] V value(const Number& x) const { return x.value; }
  [[gnu::always_inline]] V size(const Number& x) const { return magnitude_of(x.value); }
  [[gnu::always_inline]] V magnitude(const Number& x) const { return size(x) + x.rigorous; }

 private:
  [[gnu::always_inline]] Number with_store(const Number& x, const V& error,
                                           const V& typical) const {
    Number number = x;
    number.rigorous += error;
    number.additive += error;
    number.squares += square(error);
    number.moment += square(typical);
    return number;
  }

  /// README A3. The size of the noise: four standard deviations of the errors with mean 0, plus the
  /// bound of the other errors.
  [[gnu::always_inline]] V noise(const Number& x) const {
    V squares = x.moment, shared = x.shared;
    for (std::size_t k = 0; k < symbols; ++k) {
      squares += square(x.by[k] * of_row_[k].deviation);
      shared += magnitude_of(x.by[k]) * of_row_[k].shared;
    }
    return 4.0 * root_of(squares) + shared;
  }

  const Units& units_;
  std::array<Symbol, symbols> of_row_;
};

/// README A8: returns the row symbol for a number of the row that does not depend on other symbols.
inline Symbol symbol_of(const Tolerance<double, 0>& x) {
  return {x.rigorous, root_of(x.squares), x.shared};
}

}  // namespace assay::engine
