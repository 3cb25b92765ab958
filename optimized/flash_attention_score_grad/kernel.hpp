#pragma once

#include "assay/optimized/attention/tiling.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"
#include "flash_attention_score_grad/workspace.hpp"
#include "tile/kernels.hpp"
#include "tile/pairs.hpp"

namespace assay::optimized {

/// The arguments of one run in addition to its tensors.
struct Execution {
  const Tiling& tiling;
  const tile::Kernels& kernels;
  Workspace& workspace;
  std::int64_t threads;
  const tile::PairKernels* pair_kernels = nullptr;  ///< null in the host mode any_cpu
};

/// Computes the viewed elements of dq, dk and dv, and of dsink if the problem has a sink. The
/// problem must not be empty.
void compute_gradient(const spec::FlashAttentionScoreGrad::Problem& problem,
                      const spec::FlashAttentionScoreGrad::Inputs& inputs,
                      spec::FlashAttentionScoreGrad::Outputs& outputs, const Execution& execution);

}  // namespace assay::optimized
