#include "aclnn/entries/entry.hpp"

#include "aclnn/entries/attention/arguments.hpp"
#include "aclnn/entries/attention/problem.hpp"
#include "assay/optimized/attention/tiling.hpp"
#include "attention/checks/call_extents.hpp"

namespace assay::aclnn {
namespace {

using Op = spec::FlashAttentionScore;

/// Copies the inputs to contiguous tensors, runs the kernel, and copies the outputs back.
class Run {
 public:
  Run(const Op::Problem& problem, const Bindings& tensors)
      : problem_(problem), tokens_(problem), tensors_(tensors) {}

  void start(Device& device) const {
    const Op::Inputs given = inputs();
    Op::Outputs outputs = {.softmax_max = tokens_.queries(tensors_.blank("softmaxMaxOut")),
                           .softmax_sum = tokens_.queries(tensors_.blank("softmaxSumOut")),
                           .attention_out = tokens_.queries(tensors_.blank("attentionOutOut"))};
    device.flash_attention_score.with_one(
        [&](auto& kernel) { kernel.run(problem_, given, outputs); });
    tensors_.scatter("softmaxMaxOut", outputs.softmax_max);
    tensors_.scatter("softmaxSumOut", outputs.softmax_sum);
    tensors_.scatter("attentionOutOut", outputs.attention_out);
  }

 private:
  Op::Inputs inputs() const {
    Op::Inputs inputs = {.query = tokens_.queries(tensors_.gather("query")),
                         .key = tokens_.keys(tensors_.gather("key")),
                         .value = tokens_.keys(tensors_.gather("value")),
                         .atten_mask = tensors_.gather_if_given("attenMaskOptional"),
                         .pse_shift = tensors_.gather_if_given("realShiftOptional"),
                         .drop_mask = tensors_.gather_if_given("dropMaskOptional")};
    if (problem_.has_sink()) inputs.sink = tensors_.gather("sinkOptional");
    if (problem_.head_dim_rope == 0) return inputs;
    inputs.query_rope = tokens_.queries(tensors_.gather("queryRope"));
    inputs.key_rope = tokens_.keys(tensors_.gather("keyRope"));
    return inputs;
  }

  const Op::Problem& problem_;
  TokensOfSequences tokens_;
  const Bindings& tensors_;
};

}  // namespace

template <>
struct Entry<Op> {
  static Op::EntryPoint entry_point(std::string_view phase_2) {
    using enum Op::EntryPoint;
    if (phase_2 == "aclnnFlashAttentionScore") return f1;
    if (phase_2 == "aclnnFlashAttentionScoreV2") return f2;
    if (phase_2 == "aclnnFlashAttentionScoreV3") return f3;
    if (phase_2 == "aclnnFlashAttentionVarLenScore") return l1;
    if (phase_2 == "aclnnFlashAttentionVarLenScoreV2") return l2;
    return phase_2 == "aclnnFlashAttentionVarLenScoreV3" ? l3 : l5;
  }

  /// Without dropout, the kernel never reads the elements of the drop mask.
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
            .sink = given.tensor("sinkOptional"),
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
    auto attributes = attention_attributes<Op::Attributes>(given);
    attributes.softmax_out_layout = given.text("softmaxOutLayout");
    return attributes;
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
