#pragma once

#include "aclnn/prototypes/pass.hpp"
#include "assay/spec/operators/nsa_selected_attention.hpp"

namespace assay::adapters {

template <class Make, class Pass>
std::int32_t pass_arguments(const spec::Call<spec::NsaSelectedAttention>& call, Make& a,
                            const Pass& pass) {
  const auto& p = call.parameters;
  const auto& at = call.attributes;
  return pass(
      point<spec::SelectedForwardEntryPoint::f1>,
      std::tuple_cat(std::tuple(a.tensor("query", p.query), a.tensor("key", p.key),
                                a.tensor("value", p.value), a.tensor("topkIndices", p.topk_indices),
                                a.tensor("attenMaskOptional", p.atten_mask),
                                a.array(p.actual_seq_qlen), a.array(p.actual_seq_kvlen)),
                     std::tuple(at.scale_value, at.head_num, a.text(at.input_layout),
                                at.sparse_mode, at.selected_block_size, at.selected_block_count),
                     std::tuple(a.tensor("softmaxMaxOut", p.softmax_max),
                                a.tensor("softmaxSumOut", p.softmax_sum),
                                a.tensor("attentionOut", p.attention_out))));
}

}  // namespace assay::adapters
