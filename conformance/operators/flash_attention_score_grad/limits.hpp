#pragma once

#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "case/limits.hpp"

namespace assay::conformance {

/// Estimate of what a case with numbers needs, in bytes: its inputs and the copy that a kernel is
/// lent, a copy in double of every one that is multiplied, its outputs, those of a second run and
/// untouched ones, and what the forward leaves.
double memory_estimate(const spec::FlashAttentionScoreGrad::Problem& problem);

}  // namespace assay::conformance
