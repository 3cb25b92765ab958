#pragma once

#include "assay/spec/operators/nsa_compress_grad.hpp"
#include "assay/spec/operators/nsa_selected_attention_grad.hpp"
#include "session.hpp"

namespace assay::test {

/// Calls the entry point with handles of the call's parameters.
Prepared phase_1(const spec::Call<spec::NsaSelectedAttentionGrad>& call, Handles& handles);
Prepared phase_1(const spec::Call<spec::NsaCompressGrad>& call, Handles& handles);

/// The forward operators. They have the parameters of the gradient; the compressed tensor takes the
/// place of its gradient.
Prepared forward_phase_1(const spec::Call<spec::NsaSelectedAttentionGrad>& call, Handles& handles);
Prepared forward_phase_1(const spec::Call<spec::NsaCompressGrad>& call, Handles& handles);

/// Calls visit(name, parameter, tensor) for every tensor whose elements the operator uses.
template <class Visitor>
void visit_inputs(const spec::NsaSelectedAttentionGrad::Parameters& p,
                  spec::NsaSelectedAttentionGrad::Inputs& inputs, const Visitor& visit) {
  visit("query", p.query, inputs.query);
  visit("key", p.key, inputs.key);
  visit("value", p.value, inputs.value);
  visit("attention_out", p.attention_out, inputs.attention_out);
  visit("attention_out_grad", p.attention_out_grad, inputs.attention_out_grad);
  visit("softmax_max", p.softmax_max, inputs.softmax_max);
  visit("softmax_sum", p.softmax_sum, inputs.softmax_sum);
  visit("topk_indices", p.topk_indices, inputs.topk_indices);
}

template <class Visitor>
void visit_outputs(const spec::NsaSelectedAttentionGrad::Parameters& p,
                   spec::NsaSelectedAttentionGrad::Outputs& outputs, const Visitor& visit) {
  visit("dq", p.dq, outputs.dq);
  visit("dk", p.dk, outputs.dk);
  visit("dv", p.dv, outputs.dv);
}

template <class Visitor>
void visit_inputs(const spec::NsaCompressGrad::Parameters& p, spec::NsaCompressGrad::Inputs& inputs,
                  const Visitor& visit) {
  visit("output_grad", p.output_grad, inputs.output_grad);
  visit("input", p.input, inputs.input);
  visit("weight", p.weight, inputs.weight);
}

template <class Visitor>
void visit_outputs(const spec::NsaCompressGrad::Parameters& p,
                   spec::NsaCompressGrad::Outputs& outputs, const Visitor& visit) {
  visit("input_grad", p.input_grad, outputs.input_grad);
  visit("weight_grad", p.weight_grad, outputs.weight_grad);
}

}  // namespace assay::test
