#pragma once

#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "attention/dense.hpp"

/// Block-selected attention is attention of packed sequences in which every query attends to the
/// keys of its list, as often as they are listed: what is known of one is known of the other.
namespace assay::conformance::selected {

using Op = spec::NsaSelectedAttentionGrad;

/// That attention, without a mask: who attends to what is for ListPattern to say.
spec::FlashAttentionScoreGrad::Problem dense_problem(const Op::Problem& problem);
/// A case of it, whose tensors are contiguous.
AttentionCase dense_case(const Case<Op>& c);

/// Its tensors under other names.
attention::GradientTensors gradient_tensors(const Op::Outputs& outputs);

/// Dense copies with the key pattern of the lists. Errors: as ListPattern.
attention::Dense dense_of(const Op::Problem& problem, const Op::Inputs& inputs,
                          attention::Held held = attention::Held::all);

}  // namespace assay::conformance::selected
