#include <cmath>

#include "products/body.hpp"

namespace assay::engine {
namespace {

/// A portable replacement for SIMD vectors: a vector is an array with half of a panel's columns,
/// and loops process its elements one by one.
template <class T>
struct Portable {
  using Number = T;
  struct Vector {
    T lane[panel_columns<T> / 2];
  };
  static constexpr int width = panel_columns<T> / 2, vectors = 1, rows = 4;

  template <class Function>
  static Vector made(const Function& function) {
    Vector made;
    for (int l = 0; l < width; ++l) made.lane[l] = function(l);
    return made;
  }
  static Vector load(const T* from) {
    return made([&](int l) { return from[l]; });
  }
  static void store(T* to, const Vector& x) {
    for (int l = 0; l < width; ++l) to[l] = x.lane[l];
  }
  static Vector broadcast(T x) {
    return made([&](int) { return x; });
  }
  static Vector add(const Vector& x, const Vector& y) {
    return made([&](int l) { return x.lane[l] + y.lane[l]; });
  }
  static Vector fma(const Vector& x, const Vector& y, const Vector& z) {
    return made([&](int l) { return std::fma(x.lane[l], y.lane[l], z.lane[l]); });
  }
};

}  // namespace

constinit const ProductKernels portable_products = {multiply_with<Portable<double>>,
                                                    multiply_with<Portable<float>>};

}  // namespace assay::engine
