#pragma once

#include "assay/spec/operators/nsa_selected_attention_grad.hpp"
#include "tile/kernels.hpp"

namespace assay::optimized::selected {

/// Fills softmax_max, softmax_sum and attention_out from the other inputs. Tokens are independent.
/// The result therefore does not depend on the thread count. For a fully masked row, softmax_sum is
/// the largest float, softmax_max is the lowest float, and attention_out is zero.
///
/// Probabilities are rounded to the tensor type before the product with value. Source: the
/// project's notes on NsaSelectedAttentionGrad, sections 1.7.3 and 1.10.
void compute_forward(const spec::NsaSelectedAttentionGrad::Problem& problem,
                     spec::NsaSelectedAttentionGrad::Inputs& inputs, const tile::Kernels& kernels,
                     std::int64_t threads);

}  // namespace assay::optimized::selected
