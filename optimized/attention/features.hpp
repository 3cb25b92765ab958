#pragma once

#include "assay/optimized/schedules/features.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::optimized {

/// Returns the additional work and memory of a vector core for position bias, mask and dropout.
schedules::Features features_of(const spec::FlashAttentionScoreGrad::Problem& problem);

}  // namespace assay::optimized
