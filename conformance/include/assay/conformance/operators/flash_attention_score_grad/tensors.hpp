#pragma once

#include <concepts>
#include <type_traits>

#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::conformance {

/// Calls visit(name, tensor) for every input that is present, by its documented name.
template <class Inputs, class Visitor>
requires std::same_as<std::remove_const_t<Inputs>, spec::FlashAttentionScoreGrad::Inputs>
void visit_tensors(Inputs& inputs, Visitor&& visit) {
  visit("query", inputs.query);
  if (inputs.query_rope) visit("query_rope", *inputs.query_rope);
  visit("key", inputs.key);
  if (inputs.key_rope) visit("key_rope", *inputs.key_rope);
  visit("value", inputs.value);
  visit("dy", inputs.dy);
  visit("softmax_max", inputs.softmax_max);
  visit("softmax_sum", inputs.softmax_sum);
  visit("attention_in", inputs.attention_in);
  if (inputs.pse_shift) visit("pse_shift", *inputs.pse_shift);
  if (inputs.drop_mask) visit("drop_mask", *inputs.drop_mask);
  if (inputs.atten_mask) visit("atten_mask", *inputs.atten_mask);
}

/// The same for outputs.
template <class Outputs, class Visitor>
requires std::same_as<std::remove_const_t<Outputs>, spec::FlashAttentionScoreGrad::Outputs>
void visit_tensors(Outputs& outputs, Visitor&& visit) {
  visit("dq", outputs.dq);
  if (outputs.dq_rope) visit("dq_rope", *outputs.dq_rope);
  visit("dk", outputs.dk);
  if (outputs.dk_rope) visit("dk_rope", *outputs.dk_rope);
  visit("dv", outputs.dv);
}

}  // namespace assay::conformance
