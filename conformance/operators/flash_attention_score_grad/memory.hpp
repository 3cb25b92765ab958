#pragma once

#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::conformance {

/// Returns the element count of the largest tensor of a problem. In double: the product may exceed
/// 64 bits.
double largest_tensor(const spec::FlashAttentionScoreGrad::Problem& problem);

}  // namespace assay::conformance
