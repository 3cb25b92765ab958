#pragma once

#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "case/limits.hpp"

namespace assay::conformance {

/// Estimates the memory of a numerically judged case, in bytes. It contains the inputs, their copy
/// that is shared with a kernel, a copy in double of every input that is multiplied, the results of
/// the forward, and three sets of outputs: those of the run, those of a second run, and untouched
/// ones.
double memory_estimate(const spec::NsaSelectedAttentionGrad::Problem& problem);

}  // namespace assay::conformance
