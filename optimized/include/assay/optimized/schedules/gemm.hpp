#pragma once

#include "assay/optimized/schedules/modelled.hpp"

namespace assay::optimized::schedules {

/// A matrix product of m x k by k x n, cut into tiles that a grid of cores shares. Operands lie in
/// rows, the right one as `right_rows_along_k` says.
struct Gemm {
  std::int64_t m, n, k;
  std::int64_t base_m = 128, base_n = 256, base_k = 64;
  std::int64_t step_k = 4;  ///< pieces of base_k that one move brings
  std::int64_t cores = 24;
  bool contiguous = false;  ///< operands lie as their tiles are read
  bool right_rows_along_k = false;
  device::Bytes element = {2}, output = {4};
};

/// Tiles are dealt evenly; each core adds up its tiles one after the other, operands
/// double-buffered in L1, sums in as many buffers as L0C has room for. What no core has read before
/// comes from HBM.
Modelled model(const Gemm& gemm, const device::Spec& device);

}  // namespace assay::optimized::schedules
