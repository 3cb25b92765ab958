#include "assay/conformance/judge/vector_loops.hpp"

#include <cmath>

// One build runs on every machine: each loop is compiled for several instruction sets, and one
// version is chosen when the program is loaded. All versions give the same bits, because the
// compiler must not use fused multiply-adds.
namespace assay::conformance {

[[gnu::target_clones("avx512f", "avx2", "default")]] void add_scaled(double factor, const float* x,
                                                                     std::int64_t count,
                                                                     double* __restrict y) {
  for (std::int64_t k = 0; k < count; ++k) y[k] += factor * static_cast<double>(x[k]);
}

[[gnu::target_clones("avx512f", "avx2", "default")]] void add_scaled_abs(double factor,
                                                                         const float* x,
                                                                         std::int64_t count,
                                                                         double* __restrict y) {
  for (std::int64_t k = 0; k < count; ++k) y[k] += factor * static_cast<double>(std::abs(x[k]));
}

}  // namespace assay::conformance
