#pragma once

#include "assay/optimized/flash_attention_score_grad/tiling.hpp"
#include "assay/optimized/traffic.hpp"

namespace assay::optimized {

/// Returns the bytes that a run with this tiling moves through global memory.
Traffic traffic(const spec::FlashAttentionScoreGrad::Problem& problem, const Tiling& tiling);

}  // namespace assay::optimized
