#include "aclnn/entries/phases.hpp"
#include "aclnn/entries/selection_problem.hpp"
#include "aclnn/entries/workspace_size.hpp"
#include "aclnnop/aclnn_nsa_selected_attention_grad.h"
#include "assay/optimized/nsa_selected_attention_grad/tiling.hpp"

namespace assay::aclnn {
namespace {

using Op = spec::NsaSelectedAttentionGrad;
using Call = spec::Call<Op>;

void run(Device& device, const Op::Problem& problem, const Bindings& tensors) {
  const Op::Inputs inputs = {.query = tensors.gather("query"),
                             .key = tensors.gather("key"),
                             .value = tensors.gather("value"),
                             .attention_out = tensors.gather("attentionOut"),
                             .attention_out_grad = tensors.gather("attentionOutGrad"),
                             .softmax_max = tensors.gather("softmaxMax"),
                             .softmax_sum = tensors.gather("softmaxSum"),
                             .topk_indices = tensors.gather("topkIndices")};
  Op::Outputs outputs = {
      .dq = tensors.blank("dqOut"), .dk = tensors.blank("dkOut"), .dv = tensors.blank("dvOut")};
  device.nsa_selected_attention_grad.with_one(
      [&](auto& kernel) { kernel.run(problem, inputs, outputs); });
  tensors.scatter("dqOut", outputs.dq);
  tensors.scatter("dkOut", outputs.dk);
  tensors.scatter("dvOut", outputs.dv);
}

/// Bytes of the fp32 sums of the gradients and of the row terms, which the kernel keeps in global
/// memory.
std::uint64_t workspace_size(const Call& call) {
  const auto& p = call.parameters;
  WorkspaceSize size;
  for (const spec::Parameter* sums : {&p.dq, &p.dk, &p.dv})
    size.add_floats(spec::element_count(sums->shape));
  size.add_floats(spec::element_count(p.softmax_max.shape) / spec::statistics_replicas);
  return size.bytes();
}

PlannedRun decide(const std::shared_ptr<Device>& device, const Operands& operands,
                  const Call& call) {
  device->nsa_selected_attention_grad.check(call);
  operands.require_size(device->memory);
  const Op::Problem problem = problem_of(call);
  optimized::selected::plan(problem, device->spec);  // throws if the problem does not fit
  return {.workspace_size = workspace_size(call),
          .run = [device, problem](const Bindings& tensors) { run(*device, problem, tensors); }};
}

}  // namespace
}  // namespace assay::aclnn

using namespace assay;

extern "C" {

aclnnStatus aclnnNsaSelectedAttentionGradGetWorkspaceSize(
    const aclTensor* query, const aclTensor* key, const aclTensor* value,
    const aclTensor* attentionOut, const aclTensor* attentionOutGrad, const aclTensor* softmaxMax,
    const aclTensor* softmaxSum, const aclTensor* topkIndices,
    const aclIntArray* actualSeqQLenOptional, const aclIntArray* actualSeqKvLenOptional,
    const aclTensor* attenMaskOptional, double scaleValue, int64_t selectedBlockSize,
    int64_t selectedBlockCount, int64_t headNum, char* inputLayout, int64_t sparseMode,
    const aclTensor* dqOut, const aclTensor* dkOut, const aclTensor* dvOut, uint64_t* workspaceSize,
    aclOpExecutor** executor) {
  const aclnn::Phase1 phase = {"aclnnNsaSelectedAttentionGradGetWorkspaceSize",
                               "aclnnNsaSelectedAttentionGrad", workspaceSize, executor};
  return phase_1(phase, [&](const std::shared_ptr<aclnn::Device>& device, aclnn::Operands& given) {
    aclnn::Call call{.entry_point = spec::SelectedEntryPoint::s1,
                     .product = device->product,
                     .parameters = {},
                     .attributes = {.scale_value = scaleValue,
                                    .selected_block_size = selectedBlockSize,
                                    .selected_block_count = selectedBlockCount,
                                    .head_num = headNum,
                                    .input_layout = aclnn::text(inputLayout),
                                    .sparse_mode = sparseMode}};
    call.parameters = {
        .query = given.tensor("query", query),
        .key = given.tensor("key", key),
        .value = given.tensor("value", value),
        .attention_out = given.tensor("attentionOut", attentionOut),
        .attention_out_grad = given.tensor("attentionOutGrad", attentionOutGrad),
        .softmax_max = given.tensor("softmaxMax", softmaxMax),
        .softmax_sum = given.tensor("softmaxSum", softmaxSum),
        .topk_indices = given.tensor("topkIndices", topkIndices),
        // Only the presence of the mask matters; its elements are not read.
        .atten_mask = given.reserved("attenMaskOptional", attenMaskOptional),
        .dq = given.tensor("dqOut", dqOut),
        .dk = given.tensor("dkOut", dkOut),
        .dv = given.tensor("dvOut", dvOut),
        .actual_seq_qlen = given.array("actualSeqQLenOptional", actualSeqQLenOptional),
        .actual_seq_kvlen = given.array("actualSeqKvLenOptional", actualSeqKvLenOptional),
        .workspace_size = workspaceSize != nullptr,
        .executor = executor != nullptr};
    return aclnn::decide(device, given, call);
  });
}

aclnnStatus aclnnNsaSelectedAttentionGrad(void* workspace, uint64_t workspaceSize,
                                          aclOpExecutor* executor, aclrtStream stream) {
  return aclnn::phase_2(
      {"aclnnNsaSelectedAttentionGrad", workspace, workspaceSize, executor, stream});
}

}  // extern "C"
