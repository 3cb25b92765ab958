#pragma once

#include <span>

#include "assay/conformance/operators/sparse_flash_attention_grad.hpp"

namespace assay::conformance::sparse_flash {

/// Returns the names of all patterns with which the tensor sparse_indices can be filled.
std::span<const InputProfile> list_patterns();

/// Returns the tensor of lists, filled with the pattern `c.patterns.lists`. It has the strides of
/// the case. All lists satisfy requirement SFAG-C32.
spec::Tensor make_lists(const Case<spec::SparseFlashAttentionGrad>& c);

}  // namespace assay::conformance::sparse_flash
