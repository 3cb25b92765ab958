#pragma once

#include "aclnn/prototypes/pass.hpp"
#include "assay/spec/operators/flash_attention_score.hpp"

namespace assay::adapters {

template <class Make, class Pass>
std::int32_t pass_arguments(const spec::Call<spec::FlashAttentionScore>& call, Make& a,
                            const Pass& pass) {
  const auto& p = call.parameters;
  const auto& at = call.attributes;
  // The following groups of parameters occur in several entry points.
  const auto query = std::tuple(a.tensor("query", p.query));
  const auto key = std::tuple(a.tensor("key", p.key));
  const auto ropes = [&](const auto& after_key) {
    return std::tuple_cat(query, std::tuple(a.tensor("queryRope", p.query_rope)), key,
                          std::tuple(a.tensor("keyRope", p.key_rope)), after_key);
  };
  const auto before_prefix = std::tuple(
      a.tensor("value", p.value), a.tensor("realShiftOptional", p.pse_shift),
      a.tensor("dropMaskOptional", p.drop_mask), a.tensor("paddingMaskOptional", p.padding_mask),
      a.tensor("attenMaskOptional", p.atten_mask));
  const auto prefix = std::tuple(a.array(p.prefix));
  const auto others = std::tuple_cat(before_prefix, prefix);
  const auto with_sink =
      std::tuple_cat(before_prefix, std::tuple(a.tensor("sinkOptional", p.sink)), prefix);
  const auto starts = std::tuple(a.array(p.q_start_idx), a.array(p.kv_start_idx));
  const auto lengths = std::tuple(a.array(p.actual_seq_qlen), a.array(p.actual_seq_kvlen));
  const auto scalars =
      std::tuple(at.scale_value, at.keep_prob, at.pre_tokens, at.next_tokens, at.head_num,
                 a.text(at.input_layout), at.inner_precise, at.sparse_mode);
  const auto pse_type = std::tuple(at.pse_type);
  const auto results = std::tuple(
      a.tensor("softmaxMaxOut", p.softmax_max), a.tensor("softmaxSumOut", p.softmax_sum),
      a.tensor("softmaxOutOut", p.softmax_out), a.tensor("attentionOutOut", p.attention_out));
  switch (call.entry_point) {
    using enum spec::FlashForwardEntryPoint;
    case f1:
      return pass(point<f1>, std::tuple_cat(query, key, others, scalars, results));
    case f2:
      return pass(point<f2>,
                  std::tuple_cat(query, key, others, starts, scalars, pse_type, results));
    case l1:
      return pass(point<l1>, std::tuple_cat(query, key, others, lengths, scalars, results));
    case l2:
      return pass(point<l2>,
                  std::tuple_cat(query, key, others, lengths, starts, scalars, pse_type, results));
    case l3:
      return pass(point<l3>,
                  std::tuple_cat(ropes(others), lengths, starts, scalars, pse_type, results));
    case f3:
      return pass(point<f3>,
                  std::tuple_cat(query, key, with_sink, starts, scalars, pse_type, results));
    case l5:
      return pass(point<l5>, std::tuple_cat(ropes(with_sink), lengths, starts, scalars, pse_type,
                                            std::tuple(a.text(at.softmax_out_layout)), results));
  }
  return -1;
}

}  // namespace assay::adapters
