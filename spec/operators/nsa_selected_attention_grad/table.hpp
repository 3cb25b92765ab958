#pragma once

#include "assay/spec/operators/nsa_selected_attention_grad.hpp"
#include "operators/selection/requirements.hpp"

/// The requirements of NsaSelectedAttentionGrad, in groups.
namespace assay::spec::nsa::selection {

using SelectedOp = NsaSelectedAttentionGrad;
using SelectedCall = Call<SelectedOp>;
using SelectedProblem = SelectedOp::Problem;
using SelectedRow = Requirement<SelectedOp>;

template <>
inline constexpr auto ranked<SelectedOp> =
    Tensors<SelectedOp, &SelectedOp::Parameters::query, &SelectedOp::Parameters::key,
            &SelectedOp::Parameters::value, &SelectedOp::Parameters::attention_out,
            &SelectedOp::Parameters::attention_out_grad, &SelectedOp::Parameters::softmax_max,
            &SelectedOp::Parameters::softmax_sum, &SelectedOp::Parameters::topk_indices>();

std::vector<SelectedRow> selected_presence_requirements();
std::vector<SelectedRow> selected_type_requirements();
std::vector<SelectedRow> selected_shape_requirements();
std::vector<SelectedRow> selected_length_requirements();
std::vector<SelectedRow> selected_size_requirements();
std::vector<SelectedRow> selected_attribute_requirements();
std::vector<SelectedRow> selected_content_requirements();

}  // namespace assay::spec::nsa::selection
