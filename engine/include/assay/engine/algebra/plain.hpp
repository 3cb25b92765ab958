#pragma once

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <cstddef>

#include "assay/engine/algebra/reading.hpp"
#include "assay/engine/algebra/store.hpp"
#include "assay/engine/lanes.hpp"

namespace assay::engine {

/// Quadruple precision: a floating-point number with a significand of 113 bits.
using Naive = boost::multiprecision::cpp_bin_float_quad;

/// Evaluates a formula without rounding errors of a kernel: ignores the roundings that the formula
/// declares. The type T is double, Lanes (several doubles) or Naive (113 bits).
template <class T>
class PlainReading {
 public:
  using Real = T;
  using Number = T;

  [[gnu::always_inline]] T exact(const T& x) const { return x; }
  [[gnu::always_inline]] T symbol(std::size_t, const T& x) const { return x; }
  [[gnu::always_inline]] T dot(const Products<T>& of, double) const { return of.sum; }
  template <class... Declared>
  [[gnu::always_inline]] T rounded(const T& x, const Declared&...) const {
    return x;
  }
  [[gnu::always_inline]] T exponential(const T& x, const T& z, double) const {
    if constexpr (std::is_same_v<T, Naive>) {
      return T(exp(x) / z);
    } else {
      return engine::exponential(x) / z;
    }
  }
  [[gnu::always_inline]] T residue(const T& x, double) const { return x; }
  template <class... Size>
  [[gnu::always_inline]] T stored(const T& x, const Store&, const Size&...) const {
    return x;
  }
  [[gnu::always_inline]] T overflows(const T&, const Store&) const { return T{}; }
  [[gnu::always_inline]] Coefficient<T, T> staged(const T& x, const Store&) const {
    return {.number = x};
  }
  [[gnu::always_inline]] T value(const T& x) const { return x; }
  [[gnu::always_inline]] T size(const T& x) const { return magnitude_of(x); }
  [[gnu::always_inline]] T magnitude(const T& x) const { return magnitude_of(x); }
};

/// Evaluates a formula in double, which gives the expected values.
using ValueReading = PlainReading<double>;
/// Evaluates a formula with 113 bits, to check the expected values.
using NaiveReading = PlainReading<Naive>;

}  // namespace assay::engine
