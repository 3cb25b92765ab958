#pragma once

#include "aclnn/prototypes/pass.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::adapters {

template <class Make, class Pass>
std::int32_t pass_arguments(const spec::Call<spec::FlashAttentionScoreGrad>& call, Make& a,
                            const Pass& pass) {
  const auto& p = call.parameters;
  const auto& at = call.attributes;
  // The following groups of parameters occur in several entry points. Entry point V3 inserts one
  // more parameter after some groups.
  const auto query = std::tuple(a.tensor("query", p.query));
  const auto key = std::tuple(a.tensor("keyIn", p.key));
  const auto value_and_dy = std::tuple(a.tensor("value", p.value), a.tensor("dy", p.dy));
  const auto before_prefix = std::tuple(
      a.tensor("pseShiftOptional", p.pse_shift), a.tensor("dropMaskOptional", p.drop_mask),
      a.tensor("paddingMaskOptional", p.padding_mask), a.tensor("attenMaskOptional", p.atten_mask),
      a.tensor("softmaxMaxOptional", p.softmax_max), a.tensor("softmaxSumOptional", p.softmax_sum),
      a.tensor("softmaxInOptional", p.softmax_in), a.tensor("attentionInOptional", p.attention_in));
  const auto prefix = std::tuple(a.array(p.prefix));
  const auto optional = std::tuple_cat(before_prefix, prefix);
  const auto starts = std::tuple(a.array(p.q_start_idx), a.array(p.kv_start_idx));
  const auto lengths = std::tuple(a.array(p.actual_seq_qlen), a.array(p.actual_seq_kvlen));
  const auto scalars =
      std::tuple(at.scale_value, at.keep_prob, at.pre_tokens, at.next_tokens, at.head_num,
                 a.text(at.input_layout), at.inner_precise, at.sparse_mode);
  const auto pse_type = std::tuple(at.pse_type);
  const auto dq = std::tuple(a.tensor("dqOut", p.dq));
  const auto dk = std::tuple(a.tensor("dkOut", p.dk));
  const auto dv_and_dpse = std::tuple(a.tensor("dvOut", p.dv), a.tensor("dpseOut", p.dpse));
  const auto tensors = std::tuple_cat(query, key, value_and_dy, optional);
  const auto gradients = std::tuple_cat(dq, dk, dv_and_dpse);
  const auto roped_tensors =
      std::tuple_cat(query, std::tuple(a.tensor("queryRope", p.query_rope)), key,
                     std::tuple(a.tensor("keyInRope", p.key_rope)), value_and_dy);
  const auto roped_gradients =
      std::tuple_cat(dq, std::tuple(a.tensor("dqRopeOut", p.dq_rope)), dk,
                     std::tuple(a.tensor("dkRopeOut", p.dk_rope)), dv_and_dpse);
  const auto with_sink =
      std::tuple_cat(before_prefix, std::tuple(a.tensor("sinkInOptional", p.sink)), prefix);
  const auto dsink = std::tuple(a.tensor("dsinkOut", p.dsink));
  switch (call.entry_point) {
    using enum spec::FlashEntryPoint;
    case g1:
      return pass(point<g1>, std::tuple_cat(tensors, scalars, gradients));
    case g2:
      return pass(point<g2>, std::tuple_cat(tensors, starts, scalars, pse_type, gradients));
    case u1:
      return pass(point<u1>, std::tuple_cat(tensors, lengths, scalars, gradients));
    case u2:
      return pass(point<u2>,
                  std::tuple_cat(tensors, lengths, starts, scalars, pse_type, gradients));
    case u3:
      return pass(point<u3>, std::tuple_cat(roped_tensors, optional, lengths, starts, scalars,
                                            pse_type, roped_gradients));
    case u4:
      return pass(point<u4>, std::tuple_cat(tensors, lengths, scalars, gradients,
                                            std::tuple(a.text(at.softmax_in_layout))));
    case g3:
      return pass(point<g3>, std::tuple_cat(query, key, value_and_dy, with_sink, starts, scalars,
                                            pse_type, gradients, dsink));
    case u5:
      return pass(point<u5>,
                  std::tuple_cat(roped_tensors, with_sink, lengths, starts, scalars, pse_type,
                                 std::tuple(a.text(at.softmax_in_layout)), roped_gradients, dsink));
  }
  return -1;
}

}  // namespace assay::adapters
