#include <immintrin.h>

#include "products/body.hpp"

namespace assay::engine {
namespace {

struct Avx512Double {
  using Number = double;
  using Vector = __m512d;
  static constexpr int width = 8, vectors = 2, rows = 12;

  static Vector load(const double* from) { return _mm512_loadu_pd(from); }
  static void store(double* to, Vector x) { _mm512_storeu_pd(to, x); }
  static Vector broadcast(double x) { return _mm512_set1_pd(x); }
  static Vector add(Vector x, Vector y) { return _mm512_add_pd(x, y); }
  static Vector fma(Vector x, Vector y, Vector z) { return _mm512_fmadd_pd(x, y, z); }
};

struct Avx512Float {
  using Number = float;
  using Vector = __m512;
  static constexpr int width = 16, vectors = 2, rows = 12;

  static Vector load(const float* from) { return _mm512_loadu_ps(from); }
  static void store(float* to, Vector x) { _mm512_storeu_ps(to, x); }
  static Vector broadcast(float x) { return _mm512_set1_ps(x); }
  static Vector add(Vector x, Vector y) { return _mm512_add_ps(x, y); }
  static Vector fma(Vector x, Vector y, Vector z) { return _mm512_fmadd_ps(x, y, z); }
};

}  // namespace

constinit const ProductKernels avx512_products = {multiply_with<Avx512Double>,
                                                  multiply_with<Avx512Float>};

}  // namespace assay::engine
