#include "aclnn/entries/entry.hpp"

#include "aclnn/entries/selection_problem.hpp"

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

}  // namespace

template <>
struct Entry<ForwardOp> {
  static ForwardOp::EntryPoint entry_point(std::string_view) { return ForwardOp::EntryPoint::f1; }

  /// Only the presence of the mask matters; the kernel does not read its elements.
  static ForwardOp::Parameters parameters(const Arguments& given) {
    return {.query = given.tensor("query"),
            .key = given.tensor("key"),
            .value = given.tensor("value"),
            .topk_indices = given.tensor("topkIndices"),
            .atten_mask = given.reserved("attenMaskOptional"),
            .softmax_max = given.tensor("softmaxMaxOut"),
            .softmax_sum = given.tensor("softmaxSumOut"),
            .attention_out = given.tensor("attentionOut"),
            .actual_seq_qlen = given.array("actualSeqQLenOptional"),
            .actual_seq_kvlen = given.array("actualSeqKvLenOptional")};
  }

  static ForwardOp::Attributes attributes(const Arguments& given) {
    return selection_attributes(given);
  }

  static PlannedRun decide(const std::shared_ptr<Device>& device, const Operands& operands,
                           const ForwardCall& call) {
    device->nsa_selected_attention.check(call);
    operands.require_size(device->memory);
    return {.run = [device, problem = problem_of(call)](const Bindings& tensors) {
      attend(*device, problem, tensors);
    }};
  }
};

template aclnnStatus phase_1_of<ForwardOp>(const Phase1&, std::initializer_list<Argument>) noexcept;

}  // namespace assay::aclnn
