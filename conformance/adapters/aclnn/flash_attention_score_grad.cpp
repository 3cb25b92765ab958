#include "assay/spec/operators/flash_attention_score_grad.hpp"

#include "aclnn/driver.hpp"
#include "assay/adapters/aclnn.hpp"

namespace assay::adapters {

using spec::FlashAttentionScoreGrad;

namespace {

auto optional_tensors(Arguments& a, const FlashAttentionScoreGrad::Parameters& p) {
  return std::tuple(
      a.tensor("pseShiftOptional", p.pse_shift), a.tensor("dropMaskOptional", p.drop_mask),
      a.tensor("paddingMaskOptional", p.padding_mask), a.tensor("attenMaskOptional", p.atten_mask),
      a.tensor("softmaxMaxOptional", p.softmax_max), a.tensor("softmaxSumOptional", p.softmax_sum),
      a.tensor("softmaxInOptional", p.softmax_in), a.tensor("attentionInOptional", p.attention_in),
      a.array(p.prefix));
}

}  // namespace

template <>
struct EntryPoints<FlashAttentionScoreGrad> {
  using Op = FlashAttentionScoreGrad;

  static std::string symbol(spec::FlashEntryPoint entry_point) {
    const std::string padded = "aclnnFlashAttentionScoreGrad";
    const std::string packed = "aclnnFlashAttentionUnpaddingScoreGrad";
    switch (entry_point) {
      case spec::FlashEntryPoint::g1:
        return padded;
      case spec::FlashEntryPoint::g2:
        return padded + "V2";
      case spec::FlashEntryPoint::u1:
        return packed;
      case spec::FlashEntryPoint::u2:
        return packed + "V2";
      case spec::FlashEntryPoint::u3:
        return packed + "V3";
      case spec::FlashEntryPoint::u4:
        return packed + "V4";
    }
    return "";
  }

  static spec::FlashEntryPoint entry_point_of(const Op::Problem& problem) {
    if (!is_packed(problem.input_layout)) return spec::FlashEntryPoint::g2;
    if (problem.head_dim_rope > 0) return spec::FlashEntryPoint::u3;
    return problem.softmax_in_layout == spec::SoftmaxInLayout::empty ? spec::FlashEntryPoint::u2
                                                                     : spec::FlashEntryPoint::u4;
  }

  static Contents contents(Op::Parameters& p, const Op::Inputs& in, Op::Outputs& out) {
    Contents contents;
    contents.input("query", p.query, in.query);
    contents.input("queryRope", p.query_rope, in.query_rope);
    contents.input("keyIn", p.key, in.key);
    contents.input("keyInRope", p.key_rope, in.key_rope);
    contents.input("value", p.value, in.value);
    contents.input("dy", p.dy, in.dy);
    contents.input("pseShiftOptional", p.pse_shift, in.pse_shift);
    contents.input("dropMaskOptional", p.drop_mask, in.drop_mask);
    contents.input("attenMaskOptional", p.atten_mask, in.atten_mask);
    contents.input("softmaxMaxOptional", p.softmax_max, in.softmax_max);
    contents.input("softmaxSumOptional", p.softmax_sum, in.softmax_sum);
    contents.input("attentionInOptional", p.attention_in, in.attention_in);
    contents.output("dqOut", p.dq, out.dq);
    contents.output("dqRopeOut", p.dq_rope, out.dq_rope);
    contents.output("dkOut", p.dk, out.dk);
    contents.output("dkRopeOut", p.dk_rope, out.dk_rope);
    contents.output("dvOut", p.dv, out.dv);
    return contents;
  }

  /// The prototypes of the entry points have groups of parameters in common. Each group is defined
  /// once; V3 adds one parameter next to some of these groups.
  static acl::Status ask(Phase1& phase, Arguments& a, const spec::Call<Op>& call) {
    const Op::Parameters& p = call.parameters;
    const Op::Attributes& at = call.attributes;
    const auto query = std::tuple(a.tensor("query", p.query));
    const auto key = std::tuple(a.tensor("keyIn", p.key));
    const auto value_and_dy = std::tuple(a.tensor("value", p.value), a.tensor("dy", p.dy));
    const auto optional = optional_tensors(a, p);
    const auto starts = std::tuple(a.array(p.q_start_idx), a.array(p.kv_start_idx));
    const auto lengths = std::tuple(a.array(p.actual_seq_qlen), a.array(p.actual_seq_kvlen));
    const auto scalars =
        std::tuple(at.scale_value, at.keep_prob, at.pre_tokens, at.next_tokens, at.head_num,
                   a.text(at.input_layout), at.inner_precise, at.sparse_mode);
    const auto pse_type = std::tuple(at.pse_type);
    const auto dq = std::tuple(a.tensor("dqOut", p.dq));
    const auto dk = std::tuple(a.tensor("dkOut", p.dk));
    const auto dv_and_dpse = std::tuple(a.tensor("dvOut", p.dv), a.tensor("dpseOut", p.dpse));
    const auto answers = answers_of(phase, p);

    const auto asked = [&](const auto&... runs) {
      return acl::invoke(phase.symbol, std::tuple_cat(runs..., answers));
    };
    const auto tensors = std::tuple_cat(query, key, value_and_dy, optional);
    const auto gradients = std::tuple_cat(dq, dk, dv_and_dpse);
    switch (call.entry_point) {
      case spec::FlashEntryPoint::g1:
        return asked(tensors, scalars, gradients);
      case spec::FlashEntryPoint::g2:
        return asked(tensors, starts, scalars, pse_type, gradients);
      case spec::FlashEntryPoint::u1:
        return asked(tensors, lengths, scalars, gradients);
      case spec::FlashEntryPoint::u2:
        return asked(tensors, lengths, starts, scalars, pse_type, gradients);
      case spec::FlashEntryPoint::u3:
        return asked(query, std::tuple(a.tensor("queryRope", p.query_rope)), key,
                     std::tuple(a.tensor("keyInRope", p.key_rope)), value_and_dy, optional, lengths,
                     starts, scalars, pse_type, dq, std::tuple(a.tensor("dqRopeOut", p.dq_rope)),
                     dk, std::tuple(a.tensor("dkRopeOut", p.dk_rope)), dv_and_dpse);
      case spec::FlashEntryPoint::u4:
        return asked(tensors, lengths, scalars, gradients,
                     std::tuple(a.text(at.softmax_in_layout)));
    }
    return -1;
  }
};

template std::unique_ptr<spec::Implementation<FlashAttentionScoreGrad>>
open_aclnn<FlashAttentionScoreGrad>(const std::string&);

}  // namespace assay::adapters
