#pragma once

#include "assay/optimized/estimate.hpp"
#include "assay/optimized/flash_attention_score_grad/tiling.hpp"

namespace assay::optimized {

/// How the tiling would run: one key tile of one key head is the work of a core and its two vector
/// cores, dealt out in rounds; inside, the products of a record run beside the softmax of the one
/// before.
///
/// dq is added in ascending order of the key tiles; cores that share a head therefore start one
/// record after another. Source: device facts, sections 6.2, 6.3 and 6.5.
Estimate estimate(const spec::FlashAttentionScoreGrad::Problem& problem, const Tiling& tiling,
                  const device::Spec& device);

}  // namespace assay::optimized
