#include "assay/conformance/vector_loops.hpp"

#include <cmath>

// One build serves every machine: the loops are compiled for several instruction sets and chosen at load time.
// Without contraction all of them give the same bits.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
#define ASSAY_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define ASSAY_CLONES
#endif

namespace assay::conformance {

ASSAY_CLONES void add_products(double factor, const double* x, std::int64_t count,
                               const ProductSums& sums) {
  double* __restrict sum = sums.sum;
  double* __restrict absolute = sums.absolute;
  double* __restrict squares = sums.squares;
  for (std::int64_t k = 0; k < count; ++k) {
    const double product = factor * x[k];
    sum[k] += product;
    absolute[k] += std::abs(product);
    squares[k] += product * product;
  }
}

ASSAY_CLONES void add_scaled(double factor, const double* x, std::int64_t count,
                             double* __restrict y) {
  for (std::int64_t k = 0; k < count; ++k) y[k] += factor * x[k];
}

ASSAY_CLONES void add_scaled_abs(double factor, const double* x, std::int64_t count,
                                 double* __restrict y) {
  for (std::int64_t k = 0; k < count; ++k) y[k] += factor * std::abs(x[k]);
}

ASSAY_CLONES void add_scaled_squares(double factor, const double* x, std::int64_t count,
                                     double* __restrict y) {
  for (std::int64_t k = 0; k < count; ++k) y[k] += factor * (x[k] * x[k]);
}

}  // namespace assay::conformance
