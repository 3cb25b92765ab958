#include <immintrin.h>

#include "products/body.hpp"

namespace assay::engine {
namespace {

struct Avx2Double {
  using Number = double;
  using Vector = __m256d;
  static constexpr int width = 4, vectors = 2, rows = 6;

  static Vector load(const double* from) { return _mm256_loadu_pd(from); }
  static void store(double* to, Vector x) { _mm256_storeu_pd(to, x); }
  static Vector broadcast(double x) { return _mm256_set1_pd(x); }
  static Vector add(Vector x, Vector y) { return _mm256_add_pd(x, y); }
  static Vector fma(Vector x, Vector y, Vector z) { return _mm256_fmadd_pd(x, y, z); }
};

struct Avx2Float {
  using Number = float;
  using Vector = __m256;
  static constexpr int width = 8, vectors = 2, rows = 6;

  static Vector load(const float* from) { return _mm256_loadu_ps(from); }
  static void store(float* to, Vector x) { _mm256_storeu_ps(to, x); }
  static Vector broadcast(float x) { return _mm256_set1_ps(x); }
  static Vector add(Vector x, Vector y) { return _mm256_add_ps(x, y); }
  static Vector fma(Vector x, Vector y, Vector z) { return _mm256_fmadd_ps(x, y, z); }
};

}  // namespace

constinit const ProductKernels avx2_products = {multiply_with<Avx2Double>,
                                                multiply_with<Avx2Float>};

}  // namespace assay::engine
