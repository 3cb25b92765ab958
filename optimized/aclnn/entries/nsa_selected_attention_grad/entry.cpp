#include "aclnn/entries/entry.hpp"

#include "aclnn/entries/selection_problem.hpp"
#include "aclnn/entries/workspace_size.hpp"
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

/// Returns the bytes of the fp32 sums that the kernel keeps in global memory: sums of the
/// gradients, and row terms (sums of P dP).
std::uint64_t workspace_size(const Call& call) {
  const auto& p = call.parameters;
  WorkspaceSize size;
  for (const spec::Parameter* sums : {&p.dq, &p.dk, &p.dv})
    size.add_floats(spec::element_count(sums->shape));
  size.add_floats(spec::element_count(p.softmax_max.shape) / spec::statistics_replicas);
  return size.bytes();
}

}  // namespace

template <>
struct Entry<Op> {
  static Op::EntryPoint entry_point(std::string_view) { return Op::EntryPoint::s1; }

  /// Only the presence of the mask matters; the kernel does not read its elements.
  static Op::Parameters parameters(const Arguments& given) {
    return {.query = given.tensor("query"),
            .key = given.tensor("key"),
            .value = given.tensor("value"),
            .attention_out = given.tensor("attentionOut"),
            .attention_out_grad = given.tensor("attentionOutGrad"),
            .softmax_max = given.tensor("softmaxMax"),
            .softmax_sum = given.tensor("softmaxSum"),
            .topk_indices = given.tensor("topkIndices"),
            .atten_mask = given.reserved("attenMaskOptional"),
            .dq = given.tensor("dqOut"),
            .dk = given.tensor("dkOut"),
            .dv = given.tensor("dvOut"),
            .actual_seq_qlen = given.array("actualSeqQLenOptional"),
            .actual_seq_kvlen = given.array("actualSeqKvLenOptional")};
  }

  static Op::Attributes attributes(const Arguments& given) { return selection_attributes(given); }

  static PlannedRun decide(const std::shared_ptr<Device>& device, const Operands& operands,
                           const Call& call) {
    device->nsa_selected_attention_grad.check(call);
    operands.require_size(device->memory);
    const Op::Problem problem = problem_of(call);
    optimized::selected::plan(problem, device->spec);  // throws if the problem does not fit
    return {.workspace_size = workspace_size(call),
            .run = [device, problem](const Bindings& tensors) { run(*device, problem, tensors); }};
  }
};

template aclnnStatus phase_1_of<Op>(const Phase1&, std::initializer_list<Argument>) noexcept;

}  // namespace assay::aclnn
