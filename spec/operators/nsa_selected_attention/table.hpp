#pragma once

#include "assay/spec/operators/nsa_selected_attention.hpp"
#include "operators/selection/table.hpp"

/// The parts of NsaSelectedAttention calls that requirements read.
namespace assay::spec::nsa::selection {

using ForwardOp = NsaSelectedAttention;

template <>
inline constexpr auto ranked<ForwardOp> =
    Tensors<ForwardOp, &ForwardOp::Parameters::query, &ForwardOp::Parameters::key,
            &ForwardOp::Parameters::value, &ForwardOp::Parameters::topk_indices,
            &ForwardOp::Parameters::softmax_max, &ForwardOp::Parameters::softmax_sum,
            &ForwardOp::Parameters::attention_out>();
/// NSSF-C09a: it is disputed whether a query may select all keys.
template <>
inline constexpr std::int64_t spare_blocks<ForwardOp> = 1;

}  // namespace assay::spec::nsa::selection
