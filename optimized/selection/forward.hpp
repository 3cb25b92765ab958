#pragma once

#include <string_view>

#include "assay/spec/operators/selection.hpp"
#include "assay/spec/tensor.hpp"
#include "tile/kernels.hpp"

namespace assay::optimized::selected {

/// The tensors of a forward of block-selected attention.
struct ForwardTensors {
  const spec::Tensor &query, &key, &value, &topk_indices;
  spec::Tensor &softmax_max, &softmax_sum, &attention_out;
};

/// Computes softmax_max, softmax_sum and attention_out from the other tensors. Tokens are
/// independent, so the result does not depend on the thread count. For a fully masked row,
/// softmax_sum is the largest float, softmax_max is the lowest float, and attention_out is zero.
///
/// Probabilities are rounded to the tensor type before the product with value. Source:
/// aclnnNsaSelectedAttentionGrad.md (formulas). `requirement`: id for error messages, see Lists.
void compute_forward(const spec::SelectionProblem& problem, const ForwardTensors& tensors,
                     std::string_view requirement, const tile::Kernels& kernels,
                     std::int64_t threads);

}  // namespace assay::optimized::selected
