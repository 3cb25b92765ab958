#pragma once

#include "assay/optimized/schedules/modelled.hpp"

namespace assay::optimized::schedules {

/// A matrix product of m x k by k x n numbers. It is split into tiles, which are distributed over a
/// grid of cores. Operands are stored row by row; `right_rows_along_k` is true if the right operand
/// is stored transposed, as n x k numbers.
struct Gemm {
  std::int64_t m, n, k;
  std::int64_t base_m = 128, base_n = 256, base_k = 64;
  std::int64_t step_k = 4;  ///< multiples of base_k that one move loads
  std::int64_t cores = 24;
  /// True: operands are stored in the order in which their tiles are read.
  bool contiguous = false;
  bool right_rows_along_k = false;
  device::Bytes element = {2}, output = {4};
};

/// Returns the modelled time of the product. Cores get equally many tiles and compute them one
/// after the other. Operands are double-buffered in L1; L0C holds as many sums as fit. Only the
/// first read of an operand tile reaches HBM, whichever core reads it.
Modelled model(const Gemm& gemm, const device::Spec& device);

}  // namespace assay::optimized::schedules
