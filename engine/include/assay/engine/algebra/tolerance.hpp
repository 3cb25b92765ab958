#pragma once

#include <array>
#include <cstddef>

#include "assay/engine/algebra/reading.hpp"
#include "assay/engine/algebra/store.hpp"
#include "assay/engine/lanes.hpp"

namespace assay::engine {

/// What is known of the error of a number that a row computes once: it is at most `rigorous`; and
/// it is a sum of roundings without mean, the squares of whose bounds add up to deviation^2, and of
/// a part of at most `shared`.
struct Symbol {
  double rigorous = 0, deviation = 0, shared = 0;
};

/// A number of a kernel: its exact value and what is known of its error (README, A1). V is double
/// or Lanes; `symbols` numbers of the row enter it.
///
///     error = sum over k of by[k] * (error of symbol k) + the rest
///
/// Of the error `rigorous` is a bound, of the rest `beside`. Where roundings average out, the rest
/// is a sum of roundings without mean, the squares of whose bounds add up to `squares` (`moment`:
/// their mean squares times 3), and of a part of at most `shared`.
template <class V, std::size_t symbols>
struct Tolerance {
  V value{}, rigorous{}, beside{}, squares{}, moment{}, shared{};
  std::array<V, symbols> by{};
};

/// A5. Sums and differences: bounds add, derivatives keep their signs.
template <class V, std::size_t n>
[[gnu::always_inline]] inline Tolerance<V, n> operator+(const Tolerance<V, n>& x,
                                                        const Tolerance<V, n>& y) {
  Tolerance<V, n> sum = {x.value + y.value,     x.rigorous + y.rigorous, x.beside + y.beside,
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

/// A5. Times an exact factor.
template <class V, std::size_t n>
[[gnu::always_inline]] inline Tolerance<V, n> operator*(const Tolerance<V, n>& x, const V& factor) {
  const V size = magnitude_of(factor), squared = square(factor);
  Tolerance<V, n> product = {x.value * factor,    x.rigorous * size,  x.beside * size,
                             x.squares * squared, x.moment * squared, x.shared * size};
  for (std::size_t k = 0; k < n; ++k) product.by[k] = x.by[k] * factor;
  return product;
}

/// A5. A product: first order by the product rule, the second order belongs to all bounds.
template <class V, std::size_t n>
[[gnu::always_inline]] inline Tolerance<V, n> operator*(const Tolerance<V, n>& x,
                                                        const Tolerance<V, n>& y) {
  const V a = magnitude_of(x.value), b = magnitude_of(y.value);
  const V a2 = square(a), b2 = square(b), second = x.rigorous * y.rigorous;
  Tolerance<V, n> product = {x.value * y.value,
                             a * y.rigorous + b * x.rigorous + second,
                             a * y.beside + b * x.beside + second,
                             a2 * y.squares + b2 * x.squares,
                             a2 * y.moment + b2 * x.moment,
                             a * y.shared + b * x.shared + second};
  for (std::size_t k = 0; k < n; ++k) product.by[k] = x.value * y.by[k] + y.value * x.by[k];
  return product;
}

/// Reads a formula as a tolerance: every rounding that it declares enters the bounds.
template <class V, std::size_t symbols>
class ToleranceReading {
 public:
  using Real = V;
  using Number = Tolerance<V, symbols>;

  /// `of_row` belongs to the row whose pairs are read.
  ToleranceReading(const Units& units, const std::array<Symbol, symbols>& of_row)
      : units_(units), of_row_(of_row) {}

  [[gnu::always_inline]] Number exact(const V& x) const { return {.value = x}; }

  /// A number of which that is known.
  [[gnu::always_inline]] Number given(const V& x, const Symbol& error) const {
    return {.value = x,
            .rigorous = filled<V>(error.rigorous),
            .beside = filled<V>(error.rigorous),
            .squares = filled<V>(square(error.deviation)),
            .moment = filled<V>(square(error.deviation)),
            .shared = filled<V>(error.shared)};
  }

  /// A1. Its first order is in `by` alone, until it is summed.
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
    number.beside = number.rigorous;
    if (units_.truncating) {
      number.shared += worst;
    } else {
      number.squares = square(of.magnitudes * mean_free_dot(units_, terms));
    }
    number.moment = u * u * ((terms / 2 + 1) * of.squares + (terms / 3) * square(of.sum)) +
                    square(units_.operand_deviation * of.magnitudes);
    return number;
  }

  /// `mean_squares`: of the sizes of the single roundings, in sum; where it is not given, the
  /// largest they can be.
  [[gnu::always_inline]] Number rounded(const Number& x, const V& size, double times, Level level,
                                        const V& mean_squares) const {
    const V error = (times * units_.u) * size;
    Number number = x;
    number.rigorous += error;
    number.beside += error;
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
    number.beside = p * larger_of(rho - (x.rigorous - x.beside), x.beside);
    number.squares = squared * x.squares;
    number.moment = squared * x.moment;
    number.shared = p * (x.shared + error + square(rho));
    for (std::size_t k = 0; k < symbols; ++k) number.by[k] = p * x.by[k];
    return number;
  }

  [[gnu::always_inline]] Number residue(const Number& x, double phi) const {
    Number number = x;
    number.rigorous += phi;
    number.beside += phi;
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
  [[gnu::always_inline]] V overflows(const Number& x, const Store& store) const {
    return store.watches_overflow() ? store.overflows(magnitude(x)) : V{};
  }

  /// A7. The moment is that of the value alone, since R is judged about the reference; of a number
  /// without error the rounding is its drift, no matter of chance.
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
    number.beside += error;
    number.squares += square(error);
    number.moment += square(typical);
    return number;
  }

  /// A3. Four standard deviations of what averages out, and all of what does not.
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

/// A8. What a row knows of a number that it has computed itself, without symbols of its own.
inline Symbol symbol_of(const Tolerance<double, 0>& x) {
  return {x.rigorous, root_of(x.squares), x.shared};
}

}  // namespace assay::engine
