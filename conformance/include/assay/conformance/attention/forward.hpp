#pragma once

#include "assay/reference/forward.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::conformance {
namespace attention {
class Variant;
}  // namespace attention

/// Computes the forward pass of the definition in double. The function is blocked, parallel over
/// (sequence, head, rows), and made for long sequences and for many sequences. The judge uses it
/// for the statistics and attention_in of its cases. It reads the operator's tensors except dy,
/// attention_in and the statistics. softmax_max is already rounded to float, and softmax_sum is
/// computed with the rounded maximum. The result is bit-identical for any number of threads (0: all
/// cores) and any SIMD width, because the order of all sums is fixed. A score sums over ascending
/// d, with the rope part last. An output sums over ascending j. softmax_sum uses eight partial
/// sums, one for each j mod 8, which are added in ascending order. The output is divided by
/// softmax_sum * keep_prob. Cost: head_dim + head_dim_rope + head_dim_v multiplications per
/// unmasked pair of the sparse mode. Memory per thread: the keys and values of one head as double,
/// and 16 rows of scores. Errors: std::invalid_argument for a missing tensor, and for a tensor with
/// a shape that the problem does not have. `variant`: null, or the user's formula, which replaces
/// scores and masks pairs.
reference::Forward<double> blocked_forward(const spec::FlashAttentionScoreGrad::Problem& problem,
                                           const spec::FlashAttentionScoreGrad::Inputs& inputs,
                                           int threads = 0,
                                           const attention::Variant* variant = nullptr);

}  // namespace assay::conformance
