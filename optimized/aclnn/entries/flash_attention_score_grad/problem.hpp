#pragma once

#include "assay/spec/numerics.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::aclnn {

/// The computation that a call asks for which phase 1 has taken, and of which some output has an
/// element. Tokens behind the last sequence belong to none. The statistics lie as `orders` declare,
/// or, where they declare nothing, as upstream's code reads them.
spec::FlashAttentionScoreGrad::Problem problem_of(
    const spec::Call<spec::FlashAttentionScoreGrad>& call, const spec::Numerics& orders);

}  // namespace assay::aclnn
