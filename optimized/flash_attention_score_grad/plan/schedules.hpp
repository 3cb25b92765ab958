#pragma once

#include <string>
#include <variant>

#include "assay/optimized/schedules/attention.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::optimized {

/// What time depends on of a problem, or why no schedule of the event model is one of it.
std::variant<schedules::Attention, std::string> attention_of(
    const spec::FlashAttentionScoreGrad::Problem& problem);

}  // namespace assay::optimized
