#pragma once

#include <vector>

#include "assay/spec/operators/sparse_flash_attention_grad.hpp"

namespace assay::conformance::sparse_flash {

/// Returns a tensor of softmax statistics with the shape and strides of `parameter`. `rows` has one
/// number for each row, in the order of Extents::row.
spec::Tensor statistics_tensor(const spec::Parameter& parameter,
                               const spec::SparseFlashProblem& problem,
                               const std::vector<double>& rows);

/// Sets the tensors of sequence lengths, if the layout needs them.
void add_lengths(const spec::SparseFlashProblem& problem,
                 const spec::SparseFlashAttentionGrad::Parameters& call,
                 spec::SparseFlashAttentionGrad::Inputs& inputs);

}  // namespace assay::conformance::sparse_flash
