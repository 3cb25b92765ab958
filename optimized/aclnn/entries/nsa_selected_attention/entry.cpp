#include "aclnn/entries/phases.hpp"
#include "aclnn/entries/selection_problem.hpp"
#include "aclnnop/aclnn_nsa_selected_attention.h"

namespace assay::aclnn {
namespace {

using ForwardOp = spec::NsaSelectedAttention;
using ForwardCall = spec::Call<ForwardOp>;

void attend(Device& device, const ForwardOp::Problem& problem, const Bindings& tensors) {
  const ForwardOp::Inputs inputs = {.query = tensors.gather("query"),
                                    .key = tensors.gather("key"),
                                    .value = tensors.gather("value"),
                                    .topk_indices = tensors.gather("topkIndices")};
  ForwardOp::Outputs outputs = {.softmax_max = tensors.blank("softmaxMaxOut"),
                                .softmax_sum = tensors.blank("softmaxSumOut"),
                                .attention_out = tensors.blank("attentionOut")};
  device.nsa_selected_attention.with_one(
      [&](auto& kernel) { kernel.run(problem, inputs, outputs); });
  tensors.scatter("attentionOut", outputs.attention_out);
  tensors.scatter("softmaxMaxOut", outputs.softmax_max);
  tensors.scatter("softmaxSumOut", outputs.softmax_sum);
}

PlannedRun decide(const std::shared_ptr<Device>& device, const Operands& operands,
                  const ForwardCall& call) {
  device->nsa_selected_attention.check(call);
  operands.require_size(device->memory);
  return {.run = [device, problem = problem_of(call)](const Bindings& tensors) {
    attend(*device, problem, tensors);
  }};
}

}  // namespace
}  // namespace assay::aclnn

using namespace assay;

extern "C" {

aclnnStatus aclnnNsaSelectedAttentionGetWorkspaceSize(
    const aclTensor* query, const aclTensor* key, const aclTensor* value,
    const aclTensor* topkIndices, const aclTensor* attenMaskOptional,
    const aclIntArray* actualSeqQLenOptional, const aclIntArray* actualSeqKvLenOptional,
    double scaleValue, int64_t headNum, char* inputLayout, int64_t sparseMode,
    int64_t selectedBlockSize, int64_t selectedBlockCount, const aclTensor* softmaxMaxOut,
    const aclTensor* softmaxSumOut, const aclTensor* attentionOut, uint64_t* workspaceSize,
    aclOpExecutor** executor) {
  const aclnn::Phase1 phase = {"aclnnNsaSelectedAttentionGetWorkspaceSize",
                               "aclnnNsaSelectedAttention", workspaceSize, executor};
  return phase_1(phase, [&](const std::shared_ptr<aclnn::Device>& device, aclnn::Operands& given) {
    aclnn::ForwardCall call{.entry_point = spec::SelectedForwardEntryPoint::f1,
                            .product = device->product,
                            .parameters = {},
                            .attributes = {.scale_value = scaleValue,
                                           .selected_block_size = selectedBlockSize,
                                           .selected_block_count = selectedBlockCount,
                                           .head_num = headNum,
                                           .input_layout = aclnn::text(inputLayout),
                                           .sparse_mode = sparseMode}};
    auto& p = call.parameters;
    p.query = given.tensor("query", query);
    p.key = given.tensor("key", key);
    p.value = given.tensor("value", value);
    p.topk_indices = given.tensor("topkIndices", topkIndices);
    // Only the presence of the mask matters; its elements are not read.
    p.atten_mask = given.reserved("attenMaskOptional", attenMaskOptional);
    p.actual_seq_qlen = given.array("actualSeqQLenOptional", actualSeqQLenOptional);
    p.actual_seq_kvlen = given.array("actualSeqKvLenOptional", actualSeqKvLenOptional);
    p.softmax_max = given.tensor("softmaxMaxOut", softmaxMaxOut);
    p.softmax_sum = given.tensor("softmaxSumOut", softmaxSumOut);
    p.attention_out = given.tensor("attentionOut", attentionOut);
    p.workspace_size = workspaceSize != nullptr, p.executor = executor != nullptr;
    return aclnn::decide(device, given, call);
  });
}

aclnnStatus aclnnNsaSelectedAttention(void* workspace, uint64_t workspaceSize,
                                      aclOpExecutor* executor, const aclrtStream stream) {
  return aclnn::phase_2({"aclnnNsaSelectedAttention", workspace, workspaceSize, executor, stream});
}

}  // extern "C"
