#pragma once

#include "aclnn/prototypes/pass.hpp"
#include "assay/spec/operators/sparse_flash_attention_grad.hpp"

namespace assay::adapters {

template <class Make, class Pass>
std::int32_t pass_arguments(const spec::Call<spec::SparseFlashAttentionGrad>& call, Make& a,
                            const Pass& pass) {
  const auto& p = call.parameters;
  const auto& at = call.attributes;
  return pass(
      point<spec::SparseFlashEntryPoint::g1>,
      std::tuple_cat(
          std::tuple(a.tensor("query", p.query), a.tensor("key", p.key), a.tensor("value", p.value),
                     a.tensor("sparseIndices", p.sparse_indices), a.tensor("dOut", p.d_out),
                     a.tensor("out", p.out), a.tensor("softmaxMax", p.softmax_max),
                     a.tensor("softmaxSum", p.softmax_sum),
                     a.tensor("actualSeqLengthsQueryOptional", p.actual_seq_lengths_query),
                     a.tensor("actualSeqLengthsKvOptional", p.actual_seq_lengths_kv),
                     a.tensor("queryRopeOptional", p.query_rope),
                     a.tensor("keyRopeOptional", p.key_rope)),
          std::tuple(at.scale_value, at.sparse_block_size, a.text(at.layout), at.sparse_mode,
                     at.pre_tokens, at.next_tokens, at.deterministic != 0),
          std::tuple(a.tensor("dQueryOut", p.d_query), a.tensor("dKeyOut", p.d_key),
                     a.tensor("dValueOut", p.d_value),
                     a.tensor("dQueryRopeOutOptional", p.d_query_rope),
                     a.tensor("dKeyRopeOutOptional", p.d_key_rope))));
}

}  // namespace assay::adapters
