#pragma once

#include <array>
#include <cstddef>

#include "assay/engine/algebra/reading.hpp"
#include "assay/engine/algebra/store.hpp"
#include "assay/engine/lanes.hpp"

namespace assay::engine {

/// The error of a row symbol (a number that a kernel computes once per row). The error is at most
/// `rigorous` in magnitude. It is the sum of two parts: random errors with mean 0, whose squared
/// bounds add up to deviation^2, and an error of at most `shared`.
struct Symbol {
  double rigorous = 0, deviation = 0, shared = 0;
};

/// A number that a kernel computes: its exact value and bounds of its error (engine/README.md, A1).
/// V is double or Lanes (several doubles). The number depends on `symbols` row symbols: numbers
/// that the kernel computes once per row.
///
///     error = sum over k of by[k] * (error of symbol k) + the rest
///
/// `rigorous` bounds the whole error, `additive` bounds the rest. The rest consists of random
/// errors with mean 0 and of another error of at most `shared`. The squared bounds of the random
/// errors add up to `squares`; `moment` is 3 times the sum of their mean squares.
template <class V, std::size_t symbols>
struct Tolerance {
  V value{}, rigorous{}, additive{}, squares{}, moment{}, shared{};
  std::array<V, symbols> by{};
};

/// Adds two numbers: adds their error bounds, and adds their derivatives with the signs
/// (engine/README.md, A5).
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

/// Multiplies a number and its error bounds by an exact factor (engine/README.md, A5).
template <class V, std::size_t n>
[[gnu::always_inline]] inline Tolerance<V, n> operator*(const Tolerance<V, n>& x, const V& factor) {
  const V size = magnitude_of(factor), squared = square(factor);
  Tolerance<V, n> product = {x.value * factor,    x.rigorous * size,  x.additive * size,
                             x.squares * squared, x.moment * squared, x.shared * size};
  for (std::size_t k = 0; k < n; ++k) product.by[k] = x.by[k] * factor;
  return product;
}

/// Multiplies two numbers (engine/README.md, A5). The first-order error follows the product rule;
/// the second-order error is added to all bounds.
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

/// Evaluates a formula and bounds its error: every rounding that the formula declares for kernels
/// enlarges the bounds.
template <class V, std::size_t symbols>
class ToleranceReading {
 public:
  using Real = V;
  using Number = Tolerance<V, symbols>;

  /// `of_row` contains the errors of the row symbols, the numbers that were computed once for the
  /// row of the pairs.
  ToleranceReading(const Units& units, const std::array<Symbol, symbols>& of_row)
      : units_(units), of_row_(of_row) {}

  [[gnu::always_inline]] Number exact(const V& x) const { return {.value = x}; }

  /// Returns x with the given error. The error does not depend on row symbols (numbers computed
  /// once per row).
  [[gnu::always_inline]] Number given(const V& x, const Symbol& error) const {
    return {.value = x,
            .rigorous = filled<V>(error.rigorous),
            .additive = filled<V>(error.rigorous),
            .squares = filled<V>(square(error.deviation)),
            .moment = filled<V>(square(error.deviation)),
            .shared = filled<V>(error.shared)};
  }

  /// Returns row symbol k, a number that was computed once for the row (engine/README.md, A1). Its
  /// first-order error is stored only as a derivative (`by`) until all pairs are summed, because
  /// all pairs have this error in common.
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

  /// Returns x with the errors of `times` fp32 roundings. `mean_squares` is a sum with one term per
  /// rounding: the mean square of the rounded number. The overload without this argument uses the
  /// largest possible value.
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
  /// Rounds x to a narrower type, like the function `stored`. Here the kernel may first multiply x
  /// by an unknown factor of at least 1, and divide by this factor after the rounding
  /// (engine/README.md, A7).
  [[gnu::always_inline]] Number stored_at_any_scale(const Number& x, const Store& store) const {
    if (!store.rounds()) return x;
    const V error = store.error_at_any_scale(magnitude(x));
    return with_store(x, error, error);
  }
  [[gnu::always_inline]] V overflows(const Number& x, const Store& store) const {
    return store.watches_overflow() ? store.overflows(magnitude(x)) : V{};
  }

  /// Rounds x to a narrower type as the last step of a formula (engine/README.md, A7). If x is
  /// exact, its rounding error is known: the error becomes part of the drift (sum of known errors)
  /// and not of `moment`. Otherwise `moment` (3 times the expected squared error) includes the
  /// rounding of the exact value. `moment` enters R, the root mean square of error / expected
  /// standard deviation.
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

  /// Returns the typical size of the error of x: four standard deviations of the errors with mean
  /// 0, plus the bound of the other errors (engine/README.md, A3).
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

/// Converts a number that is computed once per row to a row symbol, an independent source of error
/// (engine/README.md, A8). The number must not depend on other row symbols.
inline Symbol symbol_of(const Tolerance<double, 0>& x) {
  return {x.rigorous, root_of(x.squares), x.shared};
}

}  // namespace assay::engine
