#pragma once

#include "assay/optimized/flash_attention_score_grad/tiling.hpp"
#include "assay/optimized/traffic.hpp"

namespace assay::optimized {

/// Traffic of a run with this tiling.
Traffic traffic(const spec::FlashAttentionScoreGrad::Problem& problem, const Tiling& tiling);

}  // namespace assay::optimized
