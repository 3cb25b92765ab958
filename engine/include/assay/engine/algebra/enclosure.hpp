#pragma once

#include <array>
#include <cstddef>

#include "assay/engine/algebra/reading.hpp"
#include "assay/engine/algebra/store.hpp"
#include "assay/engine/algebra/tolerance.hpp"
#include "assay/engine/lanes.hpp"

namespace assay::engine {

/// A number computed in double, together with an upper bound of its rounding error
/// (engine/blocks/README.md, B3).
template <class V>
struct Enclosure {
  V value{}, radius{};
};

/// The unit roundoff of double, and the largest error of one underflow.
inline constexpr double double_unit = 0x1p-53, double_underflow = 0x1p-1022;

/// Adds two numbers and their error bounds. TwoSum computes the rounding error of the sum exactly
/// (engine/blocks/README.md, B3).
template <class V>
[[gnu::always_inline]] inline Enclosure<V> operator+(const Enclosure<V>& x, const Enclosure<V>& y) {
  const V sum = x.value + y.value, part = sum - x.value;
  const V lost = (x.value - (sum - part)) + (y.value - part);
  return {sum, x.radius + y.radius + magnitude_of(lost)};
}
template <class V>
[[gnu::always_inline]] inline Enclosure<V> operator-(const Enclosure<V>& x, const Enclosure<V>& y) {
  return x + Enclosure<V>{-y.value, y.radius};
}
/// Multiplies two numbers and propagates their error bounds. The product itself adds a rounding
/// error of at most one unit roundoff times its value (engine/blocks/README.md, B3).
template <class V>
[[gnu::always_inline]] inline Enclosure<V> operator*(const Enclosure<V>& x, const Enclosure<V>& y) {
  const V product = x.value * y.value;
  return {product, magnitude_of(x.value) * y.radius +
                       x.radius * (magnitude_of(y.value) + y.radius) +
                       double_unit * magnitude_of(product) + double_underflow};
}
template <class V>
[[gnu::always_inline]] inline Enclosure<V> operator*(const Enclosure<V>& x, const V& factor) {
  return x * Enclosure<V>{factor, V{}};
}

/// Evaluates a formula in double and bounds the rounding errors of this evaluation. The roundings
/// of a kernel, which the formula also declares, have no effect.
template <class V, std::size_t symbols>
class EnclosureReading {
 public:
  using Real = V;
  using Number = Enclosure<V>;

  /// `of_row` contains the error bounds of the numbers that were computed once for the row. Only
  /// their member `rigorous` is used.
  EnclosureReading(const Units&, const std::array<Symbol, symbols>& of_row) : of_row_(of_row) {}

  [[gnu::always_inline]] Number exact(const V& x) const { return {x, V{}}; }
  [[gnu::always_inline]] Number symbol(std::size_t k, const V& x) const {
    return {x, filled<V>(of_row_[k].rigorous)};
  }
  [[gnu::always_inline]] Number dot(const Products<V>& of, double terms) const {
    return {of.sum, of.magnitudes * ((terms + 4) * double_unit)};
  }
  template <class... Declared>
  [[gnu::always_inline]] Number rounded(const Number& x, const Declared&...) const {
    return x;
  }
  [[gnu::always_inline]] Number exponential(const Number& x, const V& z, double) const {
    const V p = engine::exponential(x.value) / z;
    const V rho = growth_at(x.value, V(x.radius + 2 * (exponential_error + 2 * double_unit)));
    return {p, p * rho + double_underflow * (1.0 + 1.0 / z)};
  }
  [[gnu::always_inline]] Number residue(const Number& x, double) const { return x; }
  template <class... Size>
  [[gnu::always_inline]] Number stored(const Number& x, const Store&, const Size&...) const {
    return x;
  }
  [[gnu::always_inline]] V overflows(const Number&, const Store&) const { return V{}; }
  [[gnu::always_inline]] Coefficient<Number, V> staged(const Number& x, const Store&) const {
    return {.number = x};
  }
  [[gnu::always_inline]] V value(const Number& x) const { return x.value; }
  [[gnu::always_inline]] V size(const Number& x) const { return magnitude_of(x.value); }
  [[gnu::always_inline]] V magnitude(const Number& x) const { return size(x) + x.radius; }

 private:
  std::array<Symbol, symbols> of_row_;
};

/// Converts a number that was computed for a whole row to its error bound. The pairs of the row use
/// this bound.
inline Symbol symbol_of(const Enclosure<double>& x) { return {.rigorous = x.radius}; }

}  // namespace assay::engine
