#include "aclnn/entries/flash_attention_score_grad/entry.hpp"

#include "aclnn/entries/attention/problem.hpp"
#include "aclnn/entries/workspace_size.hpp"
#include "assay/optimized/attention/tiling.hpp"
#include "attention/checks/call_extents.hpp"

namespace assay::aclnn {
namespace {

using Op = spec::FlashAttentionScoreGrad;
using Call = spec::Call<Op>;
using spec::Tensor;

Op::Attributes attributes_of(const FlashArguments& a) {
  return {.scale_value = a.scale_value,
          .keep_prob = a.keep_prob,
          .pre_tokens = a.pre_tokens,
          .next_tokens = a.next_tokens,
          .head_num = a.head_num,
          .input_layout = text(a.input_layout),
          .inner_precise = a.inner_precise,
          .sparse_mode = a.sparse_mode,
          .pse_type = a.pse_type,
          .softmax_in_layout = text(a.softmax_in_layout)};
}

/// Collects the parameters of a call. Without dropout, the elements of the drop mask are never
/// read.
Op::Parameters parameters_of(const Phase1& phase, const FlashArguments& a, Operands& operands) {
  const auto tensor = [&](std::string_view name, const aclTensor* handle) {
    return operands.tensor(name, handle);
  };
  return {.query = tensor("query", a.query),
          .query_rope = tensor("queryRope", a.query_rope),
          .key = tensor("keyIn", a.key),
          .key_rope = tensor("keyInRope", a.key_rope),
          .value = tensor("value", a.value),
          .dy = tensor("dy", a.dy),
          .pse_shift = tensor("pseShiftOptional", a.pse_shift),
          .drop_mask = a.keep_prob == 1 ? operands.reserved("dropMaskOptional", a.drop_mask)
                                        : tensor("dropMaskOptional", a.drop_mask),
          .padding_mask = operands.reserved("paddingMaskOptional", a.padding_mask),
          .atten_mask = tensor("attenMaskOptional", a.atten_mask),
          .softmax_max = tensor("softmaxMaxOptional", a.softmax_max),
          .softmax_sum = tensor("softmaxSumOptional", a.softmax_sum),
          .softmax_in = operands.reserved("softmaxInOptional", a.softmax_in),
          .attention_in = tensor("attentionInOptional", a.attention_in),
          .dq = tensor("dqOut", a.dq),
          .dq_rope = tensor("dqRopeOut", a.dq_rope),
          .dk = tensor("dkOut", a.dk),
          .dk_rope = tensor("dkRopeOut", a.dk_rope),
          .dv = tensor("dvOut", a.dv),
          .dpse = operands.reserved("dpseOut", a.dpse),
          .prefix = operands.array("prefixOptional", a.prefix),
          .actual_seq_qlen = operands.array("actualSeqQLenOptional", a.actual_seq_qlen),
          .actual_seq_kvlen = operands.array("actualSeqKvLenOptional", a.actual_seq_kvlen),
          .q_start_idx = operands.array("qStartIdxOptional", a.q_start_idx),
          .kv_start_idx = operands.array("kvStartIdxOptional", a.kv_start_idx),
          .workspace_size = phase.workspace_size != nullptr,
          .executor = phase.executor != nullptr};
}

/// Bytes of the fp32 sums of the gradients and of the row terms. The kernel keeps them in global
/// memory.
std::uint64_t workspace_size(const Call& call) {
  const auto& p = call.parameters;
  WorkspaceSize size;
  for (const spec::Parameter* sums : {&p.dq, &p.dq_rope, &p.dk, &p.dk_rope, &p.dv})
    if (sums->present) size.add_floats(spec::element_count(sums->shape));
  size.add_floats(spec::element_count(p.softmax_max.shape) / spec::statistics_replicas);
  return size.bytes();
}

/// Copies the inputs to contiguous tensors, runs the kernel, and copies the outputs back. In TND,
/// the kernel does not see the tokens after the last sequence.
class Gradient {
 public:
  Gradient(const Op::Problem& problem, const Bindings& tensors)
      : tnd_(is_packed(problem.input_layout)),
        rope_(problem.head_dim_rope > 0),
        tokens_q_(query_extents(problem).tokens()),
        tokens_kv_(key_extents(problem).tokens()),
        tensors_(tensors) {}

  Op::Inputs inputs() const {
    Op::Inputs inputs = {.query = queries(tensors_.gather("query")),
                         .key = keys(tensors_.gather("keyIn")),
                         .value = keys(tensors_.gather("value")),
                         .dy = queries(tensors_.gather("dy")),
                         .softmax_max = queries(tensors_.gather("softmaxMaxOptional")),
                         .softmax_sum = queries(tensors_.gather("softmaxSumOptional")),
                         .attention_in = queries(tensors_.gather("attentionInOptional")),
                         .atten_mask = tensors_.gather_if_given("attenMaskOptional"),
                         .pse_shift = tensors_.gather_if_given("pseShiftOptional"),
                         .drop_mask = tensors_.gather_if_given("dropMaskOptional")};
    if (!rope_) return inputs;
    inputs.query_rope = queries(tensors_.gather("queryRope"));
    inputs.key_rope = keys(tensors_.gather("keyInRope"));
    return inputs;
  }

  Op::Outputs outputs() const {
    Op::Outputs outputs = {.dq = queries(tensors_.blank("dqOut")),
                           .dk = keys(tensors_.blank("dkOut")),
                           .dv = keys(tensors_.blank("dvOut"))};
    if (!rope_) return outputs;
    outputs.dq_rope = queries(tensors_.blank("dqRopeOut"));
    outputs.dk_rope = keys(tensors_.blank("dkRopeOut"));
    return outputs;
  }

  void store(const Op::Outputs& outputs) const {
    tensors_.scatter("dqOut", outputs.dq);
    tensors_.scatter("dkOut", outputs.dk);
    tensors_.scatter("dvOut", outputs.dv);
    if (outputs.dq_rope) tensors_.scatter("dqRopeOut", *outputs.dq_rope);
    if (outputs.dk_rope) tensors_.scatter("dkRopeOut", *outputs.dk_rope);
  }

 private:
  /// Shortens the shape to `tokens` rows but keeps all bytes. In an output tensor, the remaining
  /// bytes are zeros.
  Tensor first_tokens(Tensor tensor, std::int64_t tokens) const {
    if (tnd_) tensor.shape.front() = tokens;
    return tensor;
  }
  Tensor queries(Tensor tensor) const { return first_tokens(std::move(tensor), tokens_q_); }
  Tensor keys(Tensor tensor) const { return first_tokens(std::move(tensor), tokens_kv_); }

  bool tnd_, rope_;
  std::int64_t tokens_q_, tokens_kv_;
  const Bindings& tensors_;
};

void run(Device& device, const Op::Problem& problem, const Bindings& tensors) {
  const Gradient gradient(problem, tensors);
  const Op::Inputs inputs = gradient.inputs();
  Op::Outputs outputs = gradient.outputs();
  device.flash_attention_score_grad.with_one(
      [&](auto& kernel) { kernel.run(problem, inputs, outputs); });
  gradient.store(outputs);
}

PlannedRun decide(const std::shared_ptr<Device>& device, const Operands& operands,
                  const Call& call) {
  device->flash_attention_score_grad.check(call);
  operands.require_size(device->memory);
  if (optimized::attention::all_outputs_empty(call)) return {};
  const Op::Problem problem = problem_of(call, device->statistics_orders);
  if (problem.seq_q > 0 && problem.seq_kv > 0 && !optimized::attention::any_output_empty(call))
    optimized::plan(problem, device->spec);  // throws if the problem does not fit
  return {.workspace_size = workspace_size(call),
          .run = [device, problem](const Bindings& tensors) { run(*device, problem, tensors); }};
}

}  // namespace

aclnnStatus flash_phase_1(const Phase1& phase, const FlashArguments& arguments) noexcept {
  return phase_1(phase, [&](const std::shared_ptr<Device>& device, Operands& operands) {
    const Call call = {.entry_point = arguments.entry_point,
                       .product = device->product,
                       .parameters = parameters_of(phase, arguments, operands),
                       .attributes = attributes_of(arguments)};
    return decide(device, operands, call);
  });
}

}  // namespace assay::aclnn
