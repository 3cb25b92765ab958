#pragma once

#include "aclnn/prototypes/pass.hpp"
#include "assay/spec/operators/nsa_selected_attention_grad.hpp"

namespace assay::adapters {

template <class Make, class Pass>
std::int32_t pass_arguments(const spec::Call<spec::NsaSelectedAttentionGrad>& call, Make& a,
                            const Pass& pass) {
  const auto& p = call.parameters;
  const auto& at = call.attributes;
  return pass(
      point<spec::SelectedEntryPoint::s1>,
      std::tuple_cat(
          std::tuple(a.tensor("query", p.query), a.tensor("key", p.key), a.tensor("value", p.value),
                     a.tensor("attentionOut", p.attention_out),
                     a.tensor("attentionOutGrad", p.attention_out_grad),
                     a.tensor("softmaxMax", p.softmax_max), a.tensor("softmaxSum", p.softmax_sum),
                     a.tensor("topkIndices", p.topk_indices), a.array(p.actual_seq_qlen),
                     a.array(p.actual_seq_kvlen), a.tensor("attenMaskOptional", p.atten_mask)),
          std::tuple(at.scale_value, at.selected_block_size, at.selected_block_count, at.head_num,
                     a.text(at.input_layout), at.sparse_mode),
          std::tuple(a.tensor("dqOut", p.dq), a.tensor("dkOut", p.dk), a.tensor("dvOut", p.dv))));
}

}  // namespace assay::adapters
