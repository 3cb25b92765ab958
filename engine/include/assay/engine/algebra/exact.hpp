#pragma once

#include <cmath>
#include <cstddef>

#include "assay/engine/algebra/reading.hpp"
#include "assay/engine/algebra/store.hpp"

namespace assay::engine {

/// Evaluates a formula for test cases whose products and sums are exact in every kernel. Only
/// rounding to a narrower type (to nearest) changes a number. Double represents all numbers of such
/// a case. A number below the range of fp32 becomes 0.
class ExactReading {
 public:
  using Real = double;
  using Number = double;

  double exact(double x) const { return x; }
  double symbol(std::size_t, double x) const { return x; }
  double dot(const Products<double>& of, double) const { return of.sum; }
  template <class... Declared>
  double rounded(double x, const Declared&...) const {
    return x;
  }
  double exponential(double x, double z, double) const {
    const double p = std::exp(x) / z;
    return p < 0x1p-150 ? 0 : p;
  }
  double residue(double x, double) const { return x; }
  template <class... Size>
  double stored(double x, const Store& store, const Size&...) const {
    return x + store.drift(x, 0.0);
  }
  double overflows(double, const Store&) const { return 0; }
  Coefficient<double, double> staged(double x, const Store& store) const {
    return {.number = stored(x, store)};
  }
  double value(double x) const { return x; }
  double size(double x) const { return std::abs(x); }
  double magnitude(double x) const { return std::abs(x); }
};

}  // namespace assay::engine
