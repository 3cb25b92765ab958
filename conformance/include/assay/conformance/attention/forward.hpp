#pragma once

#include "assay/reference/forward.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::conformance {

/// The forward of the definition in double, blocked and parallel over (sequence, head, rows), for
/// long and for many sequences: statistics and attention_in of cases come from it. Reads the
/// operator's tensors but dy, attention_in and the statistics. softmax_max is already rounded to
/// float and softmax_sum belongs to the rounded maximum. Bit-identical for any number of threads
/// (0: all cores) and any SIMD width: scores are chains over ascending d, those of the rope part
/// last, outputs chains over ascending j, the sum is eight chains over j mod 8, added in ascending
/// order; the output is divided by softmax_sum * keep_prob.
/// Cost: a pair that the sparse mode keeps is head_dim + head_dim_rope + head_dim_v
///       multiplications; a thread holds one head's keys and values as double, and 16 rows of
///       scores.
/// Errors: std::invalid_argument for a tensor whose shape is not that of the problem, and for a
///         missing one.
reference::Forward<double> blocked_forward(const spec::FlashAttentionScoreGrad::Problem& problem,
                                           const spec::FlashAttentionScoreGrad::Inputs& inputs,
                                           int threads = 0);

}  // namespace assay::conformance
