#pragma once

#include "assay/spec/operators/nsa_selected_attention_grad.hpp"
#include "tile/kernels.hpp"

namespace assay::optimized::selected {

/// Fills softmax_max, softmax_sum and attention_out from the other inputs. Tokens are independent:
/// threads change no bit. A row that sees no key of its list gets the largest float as its sum, the
/// least as its maximum, and zeros.
///
/// Probabilities enter the product with value rounded to the type of the tensors.
/// Source: NsaSelectedAttentionGrad, sections 1.7.3 and 1.10.
void compute_forward(const spec::NsaSelectedAttentionGrad::Problem& problem,
                     spec::NsaSelectedAttentionGrad::Inputs& inputs, const tile::Kernels& kernels,
                     std::int64_t threads);

}  // namespace assay::optimized::selected
