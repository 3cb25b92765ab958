#include "aclnn/entries/entry.hpp"

#include "aclnn/entries/attention/problem.hpp"
#include "assay/optimized/attention/tiling.hpp"
#include "attention/checks/call_extents.hpp"

namespace assay::aclnn {
namespace {

using Op = spec::FlashAttentionScore;
using spec::Tensor;

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
  /// Shortens the shape to `tokens` rows but keeps all bytes of the storage. In an output tensor,
  /// the bytes of the other rows become zeros.
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

}  // namespace

template <>
struct Entry<Op> {
  static Op::EntryPoint entry_point(std::string_view phase_2) {
    using enum Op::EntryPoint;
    if (phase_2 == "aclnnFlashAttentionScore") return f1;
    if (phase_2 == "aclnnFlashAttentionScoreV2") return f2;
    if (phase_2 == "aclnnFlashAttentionVarLenScore") return l1;
    return phase_2 == "aclnnFlashAttentionVarLenScoreV2" ? l2 : l3;
  }

  /// Without dropout, the elements of the drop mask are never read.
  static Op::Parameters parameters(const Arguments& given) {
    return {.query = given.tensor("query"),
            .query_rope = given.tensor("queryRope"),
            .key = given.tensor("key"),
            .key_rope = given.tensor("keyRope"),
            .value = given.tensor("value"),
            .pse_shift = given.tensor("realShiftOptional"),
            .drop_mask = given.number("keepProb") == 1 ? given.reserved("dropMaskOptional")
                                                       : given.tensor("dropMaskOptional"),
            .padding_mask = given.reserved("paddingMaskOptional"),
            .atten_mask = given.tensor("attenMaskOptional"),
            .softmax_max = given.tensor("softmaxMaxOut"),
            .softmax_sum = given.tensor("softmaxSumOut"),
            .softmax_out = given.reserved("softmaxOutOut"),
            .attention_out = given.tensor("attentionOutOut"),
            .prefix = given.array("prefixOptional"),
            .actual_seq_qlen = given.array("actualSeqQLenOptional"),
            .actual_seq_kvlen = given.array("actualSeqKvLenOptional"),
            .q_start_idx = given.array("qStartIdxOptional"),
            .kv_start_idx = given.array("kvStartIdxOptional")};
  }

  static Op::Attributes attributes(const Arguments& given) {
    return {.scale_value = given.number("scaleValue"),
            .keep_prob = given.number("keepProb"),
            .pre_tokens = given.integer("preTokens"),
            .next_tokens = given.integer("nextTokens"),
            .head_num = given.integer("headNum"),
            .input_layout = given.text("inputLayout"),
            .inner_precise = given.integer("innerPrecise"),
            .sparse_mode = given.integer("sparseMode"),
            .pse_type = given.integer("pseType", 1)};
  }

  static PlannedRun decide(const std::shared_ptr<Device>& device, const Operands& operands,
                           const spec::Call<Op>& call) {
    device->flash_attention_score.check(call);
    operands.require_size(device->memory);
    if (optimized::attention::all_outputs_empty(call)) return {};
    const Op::Problem problem = problem_of(call, device->statistics_orders);
    if (problem.seq_q > 0 && problem.seq_kv > 0)
      optimized::plan(problem, device->spec);  // throws if the problem does not fit
    return {.run = [device, problem](const Bindings& tensors) {
      Run(problem, tensors).start(*device);
    }};
  }
};

template aclnnStatus phase_1_of<Op>(const Phase1&, std::initializer_list<Argument>) noexcept;

}  // namespace assay::aclnn
