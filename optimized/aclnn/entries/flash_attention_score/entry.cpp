#include "aclnn/entries/flash_attention_score/entry.hpp"

#include "aclnn/entries/attention/problem.hpp"
#include "assay/optimized/attention/tiling.hpp"
#include "attention/checks/call_extents.hpp"

namespace assay::aclnn {
namespace {

using Op = spec::FlashAttentionScore;
using Call = spec::Call<Op>;
using spec::Tensor;

Op::Attributes attributes_of(const ForwardArguments& a) {
  return {.scale_value = a.scale_value,
          .keep_prob = a.keep_prob,
          .pre_tokens = a.pre_tokens,
          .next_tokens = a.next_tokens,
          .head_num = a.head_num,
          .input_layout = text(a.input_layout),
          .inner_precise = a.inner_precise,
          .sparse_mode = a.sparse_mode,
          .pse_type = a.pse_type};
}

/// Collects the parameters of a call. Without dropout, the elements of the drop mask are never
/// read.
Op::Parameters parameters_of(const Phase1& phase, const ForwardArguments& a, Operands& operands) {
  const auto tensor = [&](std::string_view name, const aclTensor* handle) {
    return operands.tensor(name, handle);
  };
  return {.query = tensor("query", a.query),
          .query_rope = tensor("queryRope", a.query_rope),
          .key = tensor("key", a.key),
          .key_rope = tensor("keyRope", a.key_rope),
          .value = tensor("value", a.value),
          .pse_shift = tensor("realShiftOptional", a.pse_shift),
          .drop_mask = a.keep_prob == 1 ? operands.reserved("dropMaskOptional", a.drop_mask)
                                        : tensor("dropMaskOptional", a.drop_mask),
          .padding_mask = operands.reserved("paddingMaskOptional", a.padding_mask),
          .atten_mask = tensor("attenMaskOptional", a.atten_mask),
          .softmax_max = tensor("softmaxMaxOut", a.softmax_max),
          .softmax_sum = tensor("softmaxSumOut", a.softmax_sum),
          .softmax_out = operands.reserved("softmaxOutOut", a.softmax_out),
          .attention_out = tensor("attentionOutOut", a.attention_out),
          .prefix = operands.array("prefixOptional", a.prefix),
          .actual_seq_qlen = operands.array("actualSeqQLenOptional", a.actual_seq_qlen),
          .actual_seq_kvlen = operands.array("actualSeqKvLenOptional", a.actual_seq_kvlen),
          .q_start_idx = operands.array("qStartIdxOptional", a.q_start_idx),
          .kv_start_idx = operands.array("kvStartIdxOptional", a.kv_start_idx),
          .workspace_size = phase.workspace_size != nullptr,
          .executor = phase.executor != nullptr};
}

/// Copies the inputs to contiguous tensors, runs the kernel, and copies the outputs back. In TND,
/// the kernel does not see the tokens after the last sequence.
class Run {
 public:
  Run(const Op::Problem& problem, const Bindings& tensors)
      : problem_(problem),
        tokens_q_(query_extents(problem).tokens()),
        tokens_kv_(key_extents(problem).tokens()),
        tensors_(tensors) {}

  void start(Device& device) const {
    const Op::Inputs given = inputs();
    Op::Outputs outputs = {.softmax_max = queries(tensors_.blank("softmaxMaxOut")),
                           .softmax_sum = queries(tensors_.blank("softmaxSumOut")),
                           .attention_out = queries(tensors_.blank("attentionOutOut"))};
    device.flash_attention_score.with_one(
        [&](auto& kernel) { kernel.run(problem_, given, outputs); });
    tensors_.scatter("softmaxMaxOut", outputs.softmax_max);
    tensors_.scatter("softmaxSumOut", outputs.softmax_sum);
    tensors_.scatter("attentionOutOut", outputs.attention_out);
  }

 private:
  Op::Inputs inputs() const {
    Op::Inputs inputs = {.query = queries(tensors_.gather("query")),
                         .key = keys(tensors_.gather("key")),
                         .value = keys(tensors_.gather("value")),
                         .atten_mask = tensors_.gather_if_given("attenMaskOptional"),
                         .pse_shift = tensors_.gather_if_given("realShiftOptional"),
                         .drop_mask = tensors_.gather_if_given("dropMaskOptional")};
    if (problem_.head_dim_rope == 0) return inputs;
    inputs.query_rope = queries(tensors_.gather("queryRope"));
    inputs.key_rope = keys(tensors_.gather("keyRope"));
    return inputs;
  }
  /// Shortens the shape to `tokens` rows but keeps all bytes. In an output tensor, the remaining
  /// bytes are zeros.
  Tensor first_tokens(Tensor tensor, std::int64_t tokens) const {
    if (is_packed(problem_.input_layout)) tensor.shape.front() = tokens;
    return tensor;
  }
  Tensor queries(Tensor tensor) const { return first_tokens(std::move(tensor), tokens_q_); }
  Tensor keys(Tensor tensor) const { return first_tokens(std::move(tensor), tokens_kv_); }

  const Op::Problem& problem_;
  std::int64_t tokens_q_, tokens_kv_;
  const Bindings& tensors_;
};

PlannedRun decide(const std::shared_ptr<Device>& device, const Operands& operands,
                  const Call& call) {
  device->flash_attention_score.check(call);
  operands.require_size(device->memory);
  if (optimized::attention::all_outputs_empty(call)) return {};
  const Op::Problem problem = problem_of(call, device->statistics_orders);
  if (problem.seq_q > 0 && problem.seq_kv > 0)
    optimized::plan(problem, device->spec);  // throws if the problem does not fit
  return {
      .run = [device, problem](const Bindings& tensors) { Run(problem, tensors).start(*device); }};
}

}  // namespace

aclnnStatus forward_phase_1(const Phase1& phase, const ForwardArguments& arguments) noexcept {
  return phase_1(phase, [&](const std::shared_ptr<Device>& device, Operands& operands) {
    const Call call = {.entry_point = arguments.entry_point,
                       .product = device->product,
                       .parameters = parameters_of(phase, arguments, operands),
                       .attributes = attributes_of(arguments)};
    return decide(device, operands, call);
  });
}

}  // namespace assay::aclnn
