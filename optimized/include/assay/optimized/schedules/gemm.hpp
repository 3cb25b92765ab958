#pragma once

#include "assay/optimized/schedules/modelled.hpp"

namespace assay::optimized::schedules {

/// A matrix product of m x k by k x n numbers. The product is split into tiles, which are
/// distributed over a grid of cores. Operands are stored row by row. `right_rows_along_k`: the
/// right operand is stored transposed, as n x k numbers.
struct Gemm {
  std::int64_t m, n, k;
  std::int64_t base_m = 128, base_n = 256, base_k = 64;
  std::int64_t step_k = 4;  ///< multiples of base_k that one move loads
  std::int64_t cores = 24;
  /// True if the operands are stored in the order in which their tiles are read
  bool contiguous = false;
  bool right_rows_along_k = false;
  device::Bytes element = {2}, output = {4};
};

/// Returns the modelled time of the matrix product. All cores compute the same number of tiles, one
/// after the other. Operands are double-buffered in L1, and L0C (accumulators) contains as many
/// sums as fit. Only the first read of an operand tile comes from HBM; all later reads, by any
/// core, hit the L2 cache.
Modelled model(const Gemm& gemm, const device::Spec& device);

}  // namespace assay::optimized::schedules
