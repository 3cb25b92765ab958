#pragma once

#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "attention/dense.hpp"

/// Block-selected attention is attention of packed sequences in which every query attends to the
/// keys of its list; a key that is listed twice counts twice. So the error bounds of attention are
/// valid for block-selected attention, too.
namespace assay::conformance::selected {

using Op = spec::NsaSelectedAttentionGrad;

/// Returns the attention problem, without a mask: ListPattern defines which query attends to which
/// key.
spec::FlashAttentionScoreGrad::Problem dense_problem(const Op::Problem& problem);
/// Returns a case of that problem, with contiguous tensors.
AttentionCase dense_case(const Case<Op>& c);

/// Returns the outputs under the names of the attention problem.
attention::GradientTensors gradient_tensors(const Op::Outputs& outputs);

/// Returns dense copies of the tensors, and the key pattern that the lists define. Errors: those of
/// ListPattern.
attention::Dense dense_of(const Op::Problem& problem, const Op::Inputs& inputs,
                          attention::Held held = attention::Held::all);

}  // namespace assay::conformance::selected
