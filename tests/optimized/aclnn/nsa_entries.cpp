#include "nsa_entries.hpp"

#include "aclnnop/aclnn_nsa_compress.h"
#include "aclnnop/aclnn_nsa_compress_grad.h"
#include "aclnnop/aclnn_nsa_selected_attention.h"
#include "aclnnop/aclnn_nsa_selected_attention_grad.h"

namespace assay::test {
namespace {

/// The output pointers of phase 1, null if the call has none.
struct Results {
  std::uint64_t* workspace_size;
  aclOpExecutor** executor;
};

template <class Parameters>
Results results_of(const Parameters& p, Prepared& prepared) {
  return {p.workspace_size ? &prepared.workspace_size : nullptr,
          p.executor ? &prepared.executor : nullptr};
}

}  // namespace

Prepared phase_1(const spec::Call<spec::NsaSelectedAttentionGrad>& call, Handles& handles) {
  const auto& p = call.parameters;
  const auto& a = call.attributes;
  Prepared prepared;
  const auto [workspace_size, executor] = results_of(p, prepared);
  prepared.status = aclnnNsaSelectedAttentionGradGetWorkspaceSize(
      handles.tensor("query", p.query), handles.tensor("key", p.key),
      handles.tensor("value", p.value), handles.tensor("attention_out", p.attention_out),
      handles.tensor("attention_out_grad", p.attention_out_grad),
      handles.tensor("softmax_max", p.softmax_max), handles.tensor("softmax_sum", p.softmax_sum),
      handles.tensor("topk_indices", p.topk_indices), handles.array(p.actual_seq_qlen),
      handles.array(p.actual_seq_kvlen), handles.tensor("atten_mask", p.atten_mask), a.scale_value,
      a.selected_block_size, a.selected_block_count, a.head_num, text(a.input_layout),
      a.sparse_mode, handles.tensor("dq", p.dq), handles.tensor("dk", p.dk),
      handles.tensor("dv", p.dv), workspace_size, executor);
  return prepared;
}

Prepared phase_1(const spec::Call<spec::NsaSelectedAttention>& call, Handles& handles) {
  const auto& p = call.parameters;
  const auto& a = call.attributes;
  Prepared prepared;
  const auto [workspace_size, executor] = results_of(p, prepared);
  prepared.status = aclnnNsaSelectedAttentionGetWorkspaceSize(
      handles.tensor("query", p.query), handles.tensor("key", p.key),
      handles.tensor("value", p.value), handles.tensor("topk_indices", p.topk_indices),
      handles.tensor("atten_mask", p.atten_mask), handles.array(p.actual_seq_qlen),
      handles.array(p.actual_seq_kvlen), a.scale_value, a.head_num, text(a.input_layout),
      a.sparse_mode, a.selected_block_size, a.selected_block_count,
      handles.tensor("softmax_max", p.softmax_max), handles.tensor("softmax_sum", p.softmax_sum),
      handles.tensor("attention_out", p.attention_out), workspace_size, executor);
  return prepared;
}

Prepared phase_1(const spec::Call<spec::NsaCompressGrad>& call, Handles& handles) {
  const auto& p = call.parameters;
  const auto& a = call.attributes;
  Prepared prepared;
  const auto [workspace_size, executor] = results_of(p, prepared);
  prepared.status = aclnnNsaCompressGradGetWorkspaceSize(
      handles.tensor("output_grad", p.output_grad), handles.tensor("input", p.input),
      handles.tensor("weight", p.weight), handles.array(p.act_seq_len), a.compress_block_size,
      a.compress_stride, a.act_seq_len_type, text(a.layout),
      handles.tensor("input_grad", p.input_grad), handles.tensor("weight_grad", p.weight_grad),
      workspace_size, executor);
  return prepared;
}

Prepared phase_1(const spec::Call<spec::NsaCompress>& call, Handles& handles) {
  const auto& p = call.parameters;
  const auto& a = call.attributes;
  Prepared prepared;
  const auto [workspace_size, executor] = results_of(p, prepared);
  prepared.status = aclnnNsaCompressGetWorkspaceSize(
      handles.tensor("input", p.input), handles.tensor("weight", p.weight),
      handles.array(p.act_seq_len), text(a.layout), a.compress_block_size, a.compress_stride,
      a.act_seq_len_type, handles.tensor("output", p.output), workspace_size, executor);
  return prepared;
}

Phase2 phase_2_of(spec::SelectedEntryPoint) { return aclnnNsaSelectedAttentionGrad; }
Phase2 phase_2_of(spec::SelectedForwardEntryPoint) { return aclnnNsaSelectedAttention; }
Phase2 phase_2_of(spec::CompressEntryPoint) { return aclnnNsaCompressGrad; }
Phase2 phase_2_of(spec::NsaCompressEntryPoint) { return aclnnNsaCompress; }

}  // namespace assay::test
