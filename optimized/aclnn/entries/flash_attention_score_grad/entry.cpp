#include "aclnn/entries/entry.hpp"

#include "aclnn/entries/attention/arguments.hpp"
#include "aclnn/entries/attention/problem.hpp"
#include "aclnn/entries/workspace_size.hpp"
#include "assay/optimized/attention/tiling.hpp"
#include "attention/checks/call_extents.hpp"

namespace assay::aclnn {
namespace {

using Op = spec::FlashAttentionScoreGrad;
using Call = spec::Call<Op>;

/// Returns the bytes of the fp32 sums that the kernel keeps in global memory: sums of the
/// gradients, row terms (sums of P dP), and row sums for a sink.
std::uint64_t workspace_size(const Call& call, bool sink) {
  const auto& p = call.parameters;
  WorkspaceSize size;
  for (const spec::Parameter* sums : {&p.dq, &p.dq_rope, &p.dk, &p.dk_rope, &p.dv})
    if (sums->present) size.add_floats(spec::element_count(sums->shape));
  const std::int64_t rows = spec::element_count(p.softmax_max.shape) / spec::statistics_replicas;
  size.add_floats(rows);
  if (sink) size.add_floats(rows);
  return size.bytes();
}

/// Copies the inputs to contiguous tensors, and copies the outputs back.
class Gradient {
 public:
  Gradient(const Op::Problem& problem, const Bindings& tensors)
      : rope_(problem.head_dim_rope > 0),
        sink_(problem.has_sink()),
        tokens_(problem),
        tensors_(tensors) {}

  Op::Inputs inputs() const {
    Op::Inputs inputs = {.query = tokens_.queries(tensors_.gather("query")),
                         .key = tokens_.keys(tensors_.gather("keyIn")),
                         .value = tokens_.keys(tensors_.gather("value")),
                         .dy = tokens_.queries(tensors_.gather("dy")),
                         .softmax_max = tokens_.queries(tensors_.gather("softmaxMaxOptional")),
                         .softmax_sum = tokens_.queries(tensors_.gather("softmaxSumOptional")),
                         .attention_in = tokens_.queries(tensors_.gather("attentionInOptional")),
                         .atten_mask = tensors_.gather_if_given("attenMaskOptional"),
                         .pse_shift = tensors_.gather_if_given("pseShiftOptional"),
                         .drop_mask = tensors_.gather_if_given("dropMaskOptional")};
    if (sink_) inputs.sink = tensors_.gather("sinkInOptional");
    if (!rope_) return inputs;
    inputs.query_rope = tokens_.queries(tensors_.gather("queryRope"));
    inputs.key_rope = tokens_.keys(tensors_.gather("keyInRope"));
    return inputs;
  }

  Op::Outputs outputs() const {
    Op::Outputs outputs = {.dq = tokens_.queries(tensors_.blank("dqOut")),
                           .dk = tokens_.keys(tensors_.blank("dkOut")),
                           .dv = tokens_.keys(tensors_.blank("dvOut"))};
    // If dsinkOut is null or empty, the kernel does not write it.
    std::optional<spec::Tensor> dsink;
    if (sink_) dsink = tensors_.gather_if_given("dsinkOut");
    if (dsink && !dsink->bytes.empty()) outputs.dsink = std::move(dsink);
    if (!rope_) return outputs;
    outputs.dq_rope = tokens_.queries(tensors_.blank("dqRopeOut"));
    outputs.dk_rope = tokens_.keys(tensors_.blank("dkRopeOut"));
    return outputs;
  }

  void store(const Op::Outputs& outputs) const {
    tensors_.scatter("dqOut", outputs.dq);
    tensors_.scatter("dkOut", outputs.dk);
    tensors_.scatter("dvOut", outputs.dv);
    if (outputs.dq_rope) tensors_.scatter("dqRopeOut", *outputs.dq_rope);
    if (outputs.dk_rope) tensors_.scatter("dkRopeOut", *outputs.dk_rope);
    if (outputs.dsink) tensors_.scatter("dsinkOut", *outputs.dsink);
  }

 private:
  bool rope_, sink_;
  TokensOfSequences tokens_;
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

}  // namespace

template <>
struct Entry<Op> {
  static Op::EntryPoint entry_point(std::string_view phase_2) {
    using enum Op::EntryPoint;
    if (phase_2 == "aclnnFlashAttentionScoreGrad") return g1;
    if (phase_2 == "aclnnFlashAttentionScoreGradV2") return g2;
    if (phase_2 == "aclnnFlashAttentionScoreGradV3") return g3;
    if (phase_2 == "aclnnFlashAttentionUnpaddingScoreGrad") return u1;
    if (phase_2 == "aclnnFlashAttentionUnpaddingScoreGradV2") return u2;
    if (phase_2 == "aclnnFlashAttentionUnpaddingScoreGradV3") return u3;
    return phase_2 == "aclnnFlashAttentionUnpaddingScoreGradV4" ? u4 : u5;
  }

  /// Without dropout, the kernel never reads the elements of the drop mask.
  static Op::Parameters parameters(const Arguments& given) {
    return {.query = given.tensor("query"),
            .query_rope = given.tensor("queryRope"),
            .key = given.tensor("keyIn"),
            .key_rope = given.tensor("keyInRope"),
            .value = given.tensor("value"),
            .dy = given.tensor("dy"),
            .pse_shift = given.tensor("pseShiftOptional"),
            .drop_mask = given.number("keepProb") == 1 ? given.reserved("dropMaskOptional")
                                                       : given.tensor("dropMaskOptional"),
            .padding_mask = given.reserved("paddingMaskOptional"),
            .atten_mask = given.tensor("attenMaskOptional"),
            .softmax_max = given.tensor("softmaxMaxOptional"),
            .softmax_sum = given.tensor("softmaxSumOptional"),
            .softmax_in = given.reserved("softmaxInOptional"),
            .attention_in = given.tensor("attentionInOptional"),
            .sink = given.tensor("sinkInOptional"),
            .dq = given.tensor("dqOut"),
            .dq_rope = given.tensor("dqRopeOut"),
            .dk = given.tensor("dkOut"),
            .dk_rope = given.tensor("dkRopeOut"),
            .dv = given.tensor("dvOut"),
            .dpse = given.reserved("dpseOut"),
            .dsink = given.tensor("dsinkOut"),
            .prefix = given.array("prefixOptional"),
            .actual_seq_qlen = given.array("actualSeqQLenOptional"),
            .actual_seq_kvlen = given.array("actualSeqKvLenOptional"),
            .q_start_idx = given.array("qStartIdxOptional"),
            .kv_start_idx = given.array("kvStartIdxOptional")};
  }

  static Op::Attributes attributes(const Arguments& given) {
    auto attributes = attention_attributes<Op::Attributes>(given);
    attributes.softmax_in_layout = given.text("softmaxInLayout");
    return attributes;
  }

  static PlannedRun decide(const std::shared_ptr<Device>& device, const Operands& operands,
                           const Call& call) {
    device->flash_attention_score_grad.check(call);
    operands.require_size(device->memory);
    if (optimized::attention::all_outputs_empty(call)) return {};
    const Op::Problem problem = problem_of(call, device->statistics_orders);
    if (problem.seq_q > 0 && problem.seq_kv > 0 && !optimized::attention::any_output_empty(call))
      optimized::plan(problem, device->spec);  // throws if the problem does not fit
    return {.workspace_size = workspace_size(call, problem.has_sink()),
            .run = [device, problem](const Bindings& tensors) { run(*device, problem, tensors); }};
  }
};

template aclnnStatus phase_1_of<Op>(const Phase1&, std::initializer_list<Argument>) noexcept;

}  // namespace assay::aclnn
