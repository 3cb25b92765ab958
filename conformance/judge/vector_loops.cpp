#include "assay/conformance/judge/vector_loops.hpp"

#include <algorithm>
#include <cmath>

// One build serves every machine: each loop is compiled for several instruction sets and chosen
// when the program is loaded. Without contraction all of them give the same bits.
namespace assay::conformance {

[[gnu::target_clones("avx512f", "avx2", "default")]] void add_products(double factor,
                                                                       const double* x,
                                                                       std::int64_t count,
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

[[gnu::target_clones("avx512f", "avx2", "default")]] void add_scaled(double factor, const double* x,
                                                                     std::int64_t count,
                                                                     double* __restrict y) {
  for (std::int64_t k = 0; k < count; ++k) y[k] += factor * x[k];
}

[[gnu::target_clones("avx512f", "avx2", "default")]] void add_scaled_abs(double factor,
                                                                         const double* x,
                                                                         std::int64_t count,
                                                                         double* __restrict y) {
  for (std::int64_t k = 0; k < count; ++k) y[k] += factor * std::abs(x[k]);
}

[[gnu::target_clones("avx512f", "avx2", "default")]] void add_scaled_squares(double factor,
                                                                             const double* x,
                                                                             std::int64_t count,
                                                                             double* __restrict y) {
  for (std::int64_t k = 0; k < count; ++k) y[k] += factor * (x[k] * x[k]);
}

[[gnu::target_clones("avx512f", "avx2", "default")]] DotSums dot_sums(const double* x,
                                                                      const double* y,
                                                                      std::int64_t count) {
  constexpr std::int64_t lanes = 8;
  double value[lanes] = {}, absolute[lanes] = {}, squares[lanes] = {};
  for (std::int64_t k = 0; k < count; k += lanes) {
    const std::int64_t some = std::min(lanes, count - k);
    for (std::int64_t lane = 0; lane < some; ++lane) {
      const double product = x[k + lane] * y[k + lane];
      value[lane] += product;
      absolute[lane] += std::abs(product);
      squares[lane] += product * product;
    }
  }
  DotSums sums;
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    sums.value += value[lane];
    sums.absolute += absolute[lane];
    sums.squares += squares[lane];
  }
  return sums;
}

}  // namespace assay::conformance
