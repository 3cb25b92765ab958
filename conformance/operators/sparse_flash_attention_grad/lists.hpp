#pragma once

#include <span>

#include "assay/conformance/operators/sparse_flash_attention_grad.hpp"

namespace assay::conformance::sparse_flash {

/// The names of the patterns for sparse_indices.
std::span<const InputProfile> list_patterns();

/// Returns the lists of the case, from the pattern `c.patterns.lists`, with the strides of its
/// inputs. All lists satisfy SFAG-C32.
spec::Tensor make_lists(const Case<spec::SparseFlashAttentionGrad>& c);

}  // namespace assay::conformance::sparse_flash
