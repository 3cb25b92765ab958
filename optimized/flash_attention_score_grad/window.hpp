#pragma once

#include "assay/optimized/flash_attention_score_grad/tiling.hpp"

namespace assay::optimized {

/// The sequence that modes 7 and 8 treat as a band: the last, or the first, that has a query.
std::int64_t band_batch(const spec::FlashAttentionScoreGrad::Problem& problem);

/// What the queries of sequence b can attend to; in modes 1 and 5 the mask alone says it.
/// Source: the operator documents (sparseMode, preTokens, nextTokens).
Window window_of(const spec::FlashAttentionScoreGrad::Problem& problem, std::int64_t b);

}  // namespace assay::optimized
