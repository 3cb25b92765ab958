#pragma once

#include "assay/spec/operators/flash_attention_score_grad.hpp"
#include "trial.hpp"

namespace assay::test {

/// Calls the entry point of `call` with handles of its parameters.
Prepared phase_1(const spec::Call<spec::FlashAttentionScoreGrad>& call, Handles& handles);

/// The second phase of an entry point, and the name of its first phase.
using Phase2 = aclnnStatus (*)(void*, std::uint64_t, aclOpExecutor*, aclrtStream);
Phase2 phase_2_of(spec::FlashEntryPoint entry_point);
std::string phase_1_name(spec::FlashEntryPoint entry_point);

/// Calls visit(name, parameter, tensor) for every input tensor of the call.
template <class Visitor>
void visit_inputs(const spec::FlashAttentionScoreGrad::Parameters& p,
                  spec::FlashAttentionScoreGrad::Inputs& inputs, const Visitor& visit) {
  visit("query", p.query, inputs.query);
  visit("key", p.key, inputs.key);
  visit("value", p.value, inputs.value);
  visit("dy", p.dy, inputs.dy);
  visit("softmax_max", p.softmax_max, inputs.softmax_max);
  visit("softmax_sum", p.softmax_sum, inputs.softmax_sum);
  visit("attention_in", p.attention_in, inputs.attention_in);
  if (p.atten_mask.present) visit("atten_mask", p.atten_mask, there(inputs.atten_mask));
  if (p.pse_shift.present) visit("pse_shift", p.pse_shift, there(inputs.pse_shift));
  if (p.drop_mask.present) visit("drop_mask", p.drop_mask, there(inputs.drop_mask));
  if (p.query_rope.present) visit("query_rope", p.query_rope, there(inputs.query_rope));
  if (p.key_rope.present) visit("key_rope", p.key_rope, there(inputs.key_rope));
}

template <class Visitor>
void visit_outputs(const spec::FlashAttentionScoreGrad::Parameters& p,
                   spec::FlashAttentionScoreGrad::Outputs& outputs, const Visitor& visit) {
  visit("dq", p.dq, outputs.dq);
  visit("dk", p.dk, outputs.dk);
  visit("dv", p.dv, outputs.dv);
  if (p.dq_rope.present) visit("dq_rope", p.dq_rope, there(outputs.dq_rope));
  if (p.dk_rope.present) visit("dk_rope", p.dk_rope, there(outputs.dk_rope));
}

}  // namespace assay::test
