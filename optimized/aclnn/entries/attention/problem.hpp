#pragma once

#include "assay/spec/numerics.hpp"
#include "assay/spec/operators/flash_attention_score.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::aclnn {

/// Returns the problem of a call of softmax attention or of its gradient. Phase 1 must have
/// accepted the call, and the output must not be empty. Tokens after the last sequence are not part
/// of the problem. `orders` declares the memory order of the statistics (softmax_max, softmax_sum);
/// if it declares nothing, the order is that of the vendor's code.
template <class Op>
spec::AttentionProblem problem_of(const spec::Call<Op>& call, const spec::Numerics& orders);

}  // namespace assay::aclnn
