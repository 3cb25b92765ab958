#pragma once

#include <concepts>
#include <type_traits>

#include "assay/spec/operators/nsa_selected_attention_grad.hpp"

namespace assay::conformance {

/// Calls visit(name, tensor) for every input that is present, by its documented name.
template <class Inputs, class Visitor>
requires std::same_as<std::remove_const_t<Inputs>, spec::NsaSelectedAttentionGrad::Inputs>
void visit_tensors(Inputs& inputs, Visitor&& visit) {
  visit("query", inputs.query);
  visit("key", inputs.key);
  visit("value", inputs.value);
  visit("attention_out", inputs.attention_out);
  visit("attention_out_grad", inputs.attention_out_grad);
  visit("softmax_max", inputs.softmax_max);
  visit("softmax_sum", inputs.softmax_sum);
  visit("topk_indices", inputs.topk_indices);
  if (inputs.atten_mask) visit("atten_mask", *inputs.atten_mask);
}

/// The same for outputs.
template <class Outputs, class Visitor>
requires std::same_as<std::remove_const_t<Outputs>, spec::NsaSelectedAttentionGrad::Outputs>
void visit_tensors(Outputs& outputs, Visitor&& visit) {
  visit("dq", outputs.dq);
  visit("dk", outputs.dk);
  visit("dv", outputs.dv);
}

}  // namespace assay::conformance
