#pragma once

#include "assay/optimized/schedules/features.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::optimized {

/// What position bias, mask and dropout of a problem ask of a vector core.
schedules::Features features_of(const spec::FlashAttentionScoreGrad::Problem& problem);

}  // namespace assay::optimized
