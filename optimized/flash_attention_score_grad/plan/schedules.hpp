#pragma once

#include <string>
#include <variant>

#include "assay/optimized/schedules/attention.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::optimized {

/// Returns the properties of a problem that determine its modelled time, or the reason why the
/// model does not cover the problem.
std::variant<schedules::Attention, std::string> attention_of(
    const spec::FlashAttentionScoreGrad::Problem& problem);

}  // namespace assay::optimized
