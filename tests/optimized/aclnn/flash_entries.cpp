#include "flash_entries.hpp"

#include "aclnnop/aclnn_flash_attention_score_grad.h"

namespace assay::test {
namespace {

using Op = spec::FlashAttentionScoreGrad;
using Attributes = Op::Attributes;
using spec::FlashEntryPoint;

/// Handles of all parameters; null for absent parameters.
struct Filled {
  const aclTensor *query, *query_rope, *key, *key_rope, *value, *dy, *pse_shift, *drop_mask,
      *padding_mask, *atten_mask, *softmax_max, *softmax_sum, *softmax_in, *attention_in, *dq,
      *dq_rope, *dk, *dk_rope, *dv, *dpse;
  const aclIntArray *prefix, *actual_seq_qlen, *actual_seq_kvlen, *q_start_idx, *kv_start_idx;
  std::uint64_t* workspace_size;
  aclOpExecutor** executor;
};

Filled filled(const Op::Parameters& p, Handles& handles, Prepared& prepared) {
  const auto tensor = [&](std::string_view name, const spec::Parameter& parameter) {
    return handles.tensor(name, parameter);
  };
  return {.query = tensor("query", p.query),
          .query_rope = tensor("query_rope", p.query_rope),
          .key = tensor("key", p.key),
          .key_rope = tensor("key_rope", p.key_rope),
          .value = tensor("value", p.value),
          .dy = tensor("dy", p.dy),
          .pse_shift = tensor("pse_shift", p.pse_shift),
          .drop_mask = tensor("drop_mask", p.drop_mask),
          .padding_mask = tensor("padding_mask", p.padding_mask),
          .atten_mask = tensor("atten_mask", p.atten_mask),
          .softmax_max = tensor("softmax_max", p.softmax_max),
          .softmax_sum = tensor("softmax_sum", p.softmax_sum),
          .softmax_in = tensor("softmax_in", p.softmax_in),
          .attention_in = tensor("attention_in", p.attention_in),
          .dq = tensor("dq", p.dq),
          .dq_rope = tensor("dq_rope", p.dq_rope),
          .dk = tensor("dk", p.dk),
          .dk_rope = tensor("dk_rope", p.dk_rope),
          .dv = tensor("dv", p.dv),
          .dpse = tensor("dpse", p.dpse),
          .prefix = handles.array(p.prefix),
          .actual_seq_qlen = handles.array(p.actual_seq_qlen),
          .actual_seq_kvlen = handles.array(p.actual_seq_kvlen),
          .q_start_idx = handles.array(p.q_start_idx),
          .kv_start_idx = handles.array(p.kv_start_idx),
          .workspace_size = p.workspace_size ? &prepared.workspace_size : nullptr,
          .executor = p.executor ? &prepared.executor : nullptr};
}

aclnnStatus g1(const Attributes& a, const Filled& f) {
  return aclnnFlashAttentionScoreGradGetWorkspaceSize(
      f.query, f.key, f.value, f.dy, f.pse_shift, f.drop_mask, f.padding_mask, f.atten_mask,
      f.softmax_max, f.softmax_sum, f.softmax_in, f.attention_in, f.prefix, a.scale_value,
      a.keep_prob, a.pre_tokens, a.next_tokens, a.head_num, text(a.input_layout), a.inner_precise,
      a.sparse_mode, f.dq, f.dk, f.dv, f.dpse, f.workspace_size, f.executor);
}

aclnnStatus g2(const Attributes& a, const Filled& f) {
  return aclnnFlashAttentionScoreGradV2GetWorkspaceSize(
      f.query, f.key, f.value, f.dy, f.pse_shift, f.drop_mask, f.padding_mask, f.atten_mask,
      f.softmax_max, f.softmax_sum, f.softmax_in, f.attention_in, f.prefix, f.q_start_idx,
      f.kv_start_idx, a.scale_value, a.keep_prob, a.pre_tokens, a.next_tokens, a.head_num,
      text(a.input_layout), a.inner_precise, a.sparse_mode, a.pse_type, f.dq, f.dk, f.dv, f.dpse,
      f.workspace_size, f.executor);
}

aclnnStatus u1(const Attributes& a, const Filled& f) {
  return aclnnFlashAttentionUnpaddingScoreGradGetWorkspaceSize(
      f.query, f.key, f.value, f.dy, f.pse_shift, f.drop_mask, f.padding_mask, f.atten_mask,
      f.softmax_max, f.softmax_sum, f.softmax_in, f.attention_in, f.prefix, f.actual_seq_qlen,
      f.actual_seq_kvlen, a.scale_value, a.keep_prob, a.pre_tokens, a.next_tokens, a.head_num,
      text(a.input_layout), a.inner_precise, a.sparse_mode, f.dq, f.dk, f.dv, f.dpse,
      f.workspace_size, f.executor);
}

aclnnStatus u2(const Attributes& a, const Filled& f) {
  return aclnnFlashAttentionUnpaddingScoreGradV2GetWorkspaceSize(
      f.query, f.key, f.value, f.dy, f.pse_shift, f.drop_mask, f.padding_mask, f.atten_mask,
      f.softmax_max, f.softmax_sum, f.softmax_in, f.attention_in, f.prefix, f.actual_seq_qlen,
      f.actual_seq_kvlen, f.q_start_idx, f.kv_start_idx, a.scale_value, a.keep_prob, a.pre_tokens,
      a.next_tokens, a.head_num, text(a.input_layout), a.inner_precise, a.sparse_mode, a.pse_type,
      f.dq, f.dk, f.dv, f.dpse, f.workspace_size, f.executor);
}

aclnnStatus u3(const Attributes& a, const Filled& f) {
  return aclnnFlashAttentionUnpaddingScoreGradV3GetWorkspaceSize(
      f.query, f.query_rope, f.key, f.key_rope, f.value, f.dy, f.pse_shift, f.drop_mask,
      f.padding_mask, f.atten_mask, f.softmax_max, f.softmax_sum, f.softmax_in, f.attention_in,
      f.prefix, f.actual_seq_qlen, f.actual_seq_kvlen, f.q_start_idx, f.kv_start_idx, a.scale_value,
      a.keep_prob, a.pre_tokens, a.next_tokens, a.head_num, text(a.input_layout), a.inner_precise,
      a.sparse_mode, a.pse_type, f.dq, f.dq_rope, f.dk, f.dk_rope, f.dv, f.dpse, f.workspace_size,
      f.executor);
}

aclnnStatus u4(const Attributes& a, const Filled& f) {
  return aclnnFlashAttentionUnpaddingScoreGradV4GetWorkspaceSize(
      f.query, f.key, f.value, f.dy, f.pse_shift, f.drop_mask, f.padding_mask, f.atten_mask,
      f.softmax_max, f.softmax_sum, f.softmax_in, f.attention_in, f.prefix, f.actual_seq_qlen,
      f.actual_seq_kvlen, a.scale_value, a.keep_prob, a.pre_tokens, a.next_tokens, a.head_num,
      text(a.input_layout), a.inner_precise, a.sparse_mode, f.dq, f.dk, f.dv, f.dpse,
      text(a.softmax_in_layout), f.workspace_size, f.executor);
}

struct Entry {
  std::string_view name;
  aclnnStatus (*phase_1)(const Attributes& attributes, const Filled& filled);
  Phase2 phase_2;
};

const Entry& entry_of(FlashEntryPoint entry_point) {
  static const std::map<FlashEntryPoint, Entry> entries = {
      {FlashEntryPoint::g1, {"aclnnFlashAttentionScoreGrad", g1, aclnnFlashAttentionScoreGrad}},
      {FlashEntryPoint::g2, {"aclnnFlashAttentionScoreGradV2", g2, aclnnFlashAttentionScoreGradV2}},
      {FlashEntryPoint::u1,
       {"aclnnFlashAttentionUnpaddingScoreGrad", u1, aclnnFlashAttentionUnpaddingScoreGrad}},
      {FlashEntryPoint::u2,
       {"aclnnFlashAttentionUnpaddingScoreGradV2", u2, aclnnFlashAttentionUnpaddingScoreGradV2}},
      {FlashEntryPoint::u3,
       {"aclnnFlashAttentionUnpaddingScoreGradV3", u3, aclnnFlashAttentionUnpaddingScoreGradV3}},
      {FlashEntryPoint::u4,
       {"aclnnFlashAttentionUnpaddingScoreGradV4", u4, aclnnFlashAttentionUnpaddingScoreGradV4}},
  };
  return entries.at(entry_point);
}

}  // namespace

Prepared phase_1(const spec::Call<Op>& call, Handles& handles) {
  Prepared prepared;
  prepared.status = entry_of(call.entry_point)
                        .phase_1(call.attributes, filled(call.parameters, handles, prepared));
  return prepared;
}

Phase2 phase_2_of(FlashEntryPoint entry_point) { return entry_of(entry_point).phase_2; }

std::string phase_1_name(FlashEntryPoint entry_point) {
  return std::string(entry_of(entry_point).name) + "GetWorkspaceSize";
}

}  // namespace assay::test
