#include <map>

#include "aclnnop/aclnn_flash_attention_score.h"
#include "flash_entries.hpp"

namespace assay::test {
namespace {

using Op = spec::FlashAttentionScore;
using Attributes = Op::Attributes;
using EntryPoint = spec::FlashForwardEntryPoint;

/// Handles of all parameters, null for absent ones.
struct Filled {
  const aclTensor *query, *query_rope, *key, *key_rope, *value, *pse_shift, *drop_mask,
      *padding_mask, *atten_mask, *softmax_max, *softmax_sum, *softmax_out, *attention_out;
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
          .pse_shift = tensor("pse_shift", p.pse_shift),
          .drop_mask = tensor("drop_mask", p.drop_mask),
          .padding_mask = tensor("padding_mask", p.padding_mask),
          .atten_mask = tensor("atten_mask", p.atten_mask),
          .softmax_max = tensor("softmax_max", p.softmax_max),
          .softmax_sum = tensor("softmax_sum", p.softmax_sum),
          .softmax_out = tensor("softmax_out", p.softmax_out),
          .attention_out = tensor("attention_out", p.attention_out),
          .prefix = handles.array(p.prefix),
          .actual_seq_qlen = handles.array(p.actual_seq_qlen),
          .actual_seq_kvlen = handles.array(p.actual_seq_kvlen),
          .q_start_idx = handles.array(p.q_start_idx),
          .kv_start_idx = handles.array(p.kv_start_idx),
          .workspace_size = p.workspace_size ? &prepared.workspace_size : nullptr,
          .executor = p.executor ? &prepared.executor : nullptr};
}

aclnnStatus f1(const Attributes& a, const Filled& f) {
  return aclnnFlashAttentionScoreGetWorkspaceSize(
      f.query, f.key, f.value, f.pse_shift, f.drop_mask, f.padding_mask, f.atten_mask, f.prefix,
      a.scale_value, a.keep_prob, a.pre_tokens, a.next_tokens, a.head_num, text(a.input_layout),
      a.inner_precise, a.sparse_mode, f.softmax_max, f.softmax_sum, f.softmax_out, f.attention_out,
      f.workspace_size, f.executor);
}

aclnnStatus f2(const Attributes& a, const Filled& f) {
  return aclnnFlashAttentionScoreV2GetWorkspaceSize(
      f.query, f.key, f.value, f.pse_shift, f.drop_mask, f.padding_mask, f.atten_mask, f.prefix,
      f.q_start_idx, f.kv_start_idx, a.scale_value, a.keep_prob, a.pre_tokens, a.next_tokens,
      a.head_num, text(a.input_layout), a.inner_precise, a.sparse_mode, a.pse_type, f.softmax_max,
      f.softmax_sum, f.softmax_out, f.attention_out, f.workspace_size, f.executor);
}

aclnnStatus l1(const Attributes& a, const Filled& f) {
  return aclnnFlashAttentionVarLenScoreGetWorkspaceSize(
      f.query, f.key, f.value, f.pse_shift, f.drop_mask, f.padding_mask, f.atten_mask, f.prefix,
      f.actual_seq_qlen, f.actual_seq_kvlen, a.scale_value, a.keep_prob, a.pre_tokens,
      a.next_tokens, a.head_num, text(a.input_layout), a.inner_precise, a.sparse_mode,
      f.softmax_max, f.softmax_sum, f.softmax_out, f.attention_out, f.workspace_size, f.executor);
}

aclnnStatus l2(const Attributes& a, const Filled& f) {
  return aclnnFlashAttentionVarLenScoreV2GetWorkspaceSize(
      f.query, f.key, f.value, f.pse_shift, f.drop_mask, f.padding_mask, f.atten_mask, f.prefix,
      f.actual_seq_qlen, f.actual_seq_kvlen, f.q_start_idx, f.kv_start_idx, a.scale_value,
      a.keep_prob, a.pre_tokens, a.next_tokens, a.head_num, text(a.input_layout), a.inner_precise,
      a.sparse_mode, a.pse_type, f.softmax_max, f.softmax_sum, f.softmax_out, f.attention_out,
      f.workspace_size, f.executor);
}

aclnnStatus l3(const Attributes& a, const Filled& f) {
  return aclnnFlashAttentionVarLenScoreV3GetWorkspaceSize(
      f.query, f.query_rope, f.key, f.key_rope, f.value, f.pse_shift, f.drop_mask, f.padding_mask,
      f.atten_mask, f.prefix, f.actual_seq_qlen, f.actual_seq_kvlen, f.q_start_idx, f.kv_start_idx,
      a.scale_value, a.keep_prob, a.pre_tokens, a.next_tokens, a.head_num, text(a.input_layout),
      a.inner_precise, a.sparse_mode, a.pse_type, f.softmax_max, f.softmax_sum, f.softmax_out,
      f.attention_out, f.workspace_size, f.executor);
}

struct Entry {
  std::string_view name;
  aclnnStatus (*phase_1)(const Attributes& attributes, const Filled& filled);
  Phase2 phase_2;
};

const Entry& entry_of(EntryPoint entry_point) {
  static const std::map<EntryPoint, Entry> entries = {
      {EntryPoint::f1, {"aclnnFlashAttentionScore", f1, aclnnFlashAttentionScore}},
      {EntryPoint::f2, {"aclnnFlashAttentionScoreV2", f2, aclnnFlashAttentionScoreV2}},
      {EntryPoint::l1, {"aclnnFlashAttentionVarLenScore", l1, aclnnFlashAttentionVarLenScore}},
      {EntryPoint::l2, {"aclnnFlashAttentionVarLenScoreV2", l2, aclnnFlashAttentionVarLenScoreV2}},
      {EntryPoint::l3, {"aclnnFlashAttentionVarLenScoreV3", l3, aclnnFlashAttentionVarLenScoreV3}},
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

Phase2 phase_2_of(EntryPoint entry_point) { return entry_of(entry_point).phase_2; }

std::string phase_1_name(EntryPoint entry_point) {
  return std::string(entry_of(entry_point).name) + "GetWorkspaceSize";
}

}  // namespace assay::test
