#pragma once

#include "assay/spec/operators/nsa_selected_attention.hpp"
#include "operators/selection/table.hpp"

/// The tensors and sizes of NsaSelectedAttention calls that its requirements use.
namespace assay::spec::nsa::selection {

using ForwardOp = NsaSelectedAttention;

template <>
inline constexpr auto ranked<ForwardOp> =
    Tensors<ForwardOp, &ForwardOp::Parameters::query, &ForwardOp::Parameters::key,
            &ForwardOp::Parameters::value, &ForwardOp::Parameters::topk_indices,
            &ForwardOp::Parameters::softmax_max, &ForwardOp::Parameters::softmax_sum,
            &ForwardOp::Parameters::attention_out>();
/// The documentation contradicts itself about a query that selects all keys (requirement
/// NSSF-C09a). Therefore each key sequence of a test call has one block more than a query selects.
template <>
inline constexpr std::int64_t spare_blocks<ForwardOp> = 1;

}  // namespace assay::spec::nsa::selection
