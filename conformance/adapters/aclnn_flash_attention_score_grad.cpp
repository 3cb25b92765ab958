#include "aclnn_driver.hpp"
#include "assay/adapters/aclnn.hpp"

namespace assay::adapters {

using spec::FlashAttentionScoreGrad;

template <>
struct EntryPoints<FlashAttentionScoreGrad> {
  using Op = FlashAttentionScoreGrad;

  static std::string symbol(spec::FlashSurface surface) {
    switch (surface) {
      case spec::FlashSurface::g1: return "aclnnFlashAttentionScoreGrad";
      case spec::FlashSurface::g2: return "aclnnFlashAttentionScoreGradV2";
      case spec::FlashSurface::u1: return "aclnnFlashAttentionUnpaddingScoreGrad";
      case spec::FlashSurface::u2: return "aclnnFlashAttentionUnpaddingScoreGradV2";
      case spec::FlashSurface::u3: return "aclnnFlashAttentionUnpaddingScoreGradV3";
      case spec::FlashSurface::u4: return "aclnnFlashAttentionUnpaddingScoreGradV4";
    }
    return "";
  }

  static spec::FlashSurface surface_of(const Op::Problem& problem) {
    if (problem.input_layout != spec::Layout::tnd) return spec::FlashSurface::g2;
    if (problem.head_dim_rope > 0) return spec::FlashSurface::u3;
    return problem.softmax_in_layout == spec::StatisticsOrder::packed ? spec::FlashSurface::u2
                                                                      : spec::FlashSurface::u4;
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

  /// The prototypes share runs of parameters, which are named once here.
  static acl::Status ask(Phase1& phase, Arguments& a, const spec::Call<Op>& call) {
    const auto& p = call.parameters;
    const auto& attributes = call.attributes;
    const auto tensors = std::tuple(a.tensor("query", p.query), a.tensor("keyIn", p.key),
                                    a.tensor("value", p.value), a.tensor("dy", p.dy));
    const auto optional = std::tuple(
        a.tensor("pseShiftOptional", p.pse_shift), a.tensor("dropMaskOptional", p.drop_mask),
        a.tensor("paddingMaskOptional", p.padding_mask),
        a.tensor("attenMaskOptional", p.atten_mask), a.tensor("softmaxMaxOptional", p.softmax_max),
        a.tensor("softmaxSumOptional", p.softmax_sum), a.tensor("softmaxInOptional", p.softmax_in),
        a.tensor("attentionInOptional", p.attention_in), a.array(p.prefix));
    const auto scalars = std::tuple(
        attributes.scale_value, attributes.keep_prob, attributes.pre_tokens, attributes.next_tokens,
        attributes.head_num, a.text(attributes.input_layout), attributes.inner_precise,
        attributes.sparse_mode);
    const auto gradients = std::tuple(a.tensor("dqOut", p.dq), a.tensor("dkOut", p.dk),
                                      a.tensor("dvOut", p.dv), a.tensor("dpseOut", p.dpse));
    const auto answers = answers_of(phase, p);
    const auto lengths = [&] { return std::tuple(a.array(p.actual_seq_qlen), a.array(p.actual_seq_kvlen)); };
    const auto starts = [&] { return std::tuple(a.array(p.q_start_idx), a.array(p.kv_start_idx)); };
    const auto pse_type = std::tuple(attributes.pse_type);
    const auto asked = [&](const auto&... runs) {
      return acl::invoke(phase.symbol, std::tuple_cat(runs...));
    };
    switch (call.surface) {
      case spec::FlashSurface::g1: return asked(tensors, optional, scalars, gradients, answers);
      case spec::FlashSurface::g2:
        return asked(tensors, optional, starts(), scalars, pse_type, gradients, answers);
      case spec::FlashSurface::u1:
        return asked(tensors, optional, lengths(), scalars, gradients, answers);
      case spec::FlashSurface::u2:
        return asked(tensors, optional, lengths(), starts(), scalars, pse_type, gradients, answers);
      case spec::FlashSurface::u3:
        return asked(std::tuple(std::get<0>(tensors), a.tensor("queryRope", p.query_rope),
                                std::get<1>(tensors), a.tensor("keyInRope", p.key_rope),
                                std::get<2>(tensors), std::get<3>(tensors)),
                     optional, lengths(), starts(), scalars, pse_type,
                     std::tuple(std::get<0>(gradients), a.tensor("dqRopeOut", p.dq_rope),
                                std::get<1>(gradients), a.tensor("dkRopeOut", p.dk_rope),
                                std::get<2>(gradients), std::get<3>(gradients)),
                     answers);
      case spec::FlashSurface::u4:
        return asked(tensors, optional, lengths(), scalars, gradients,
                     std::tuple(a.text(attributes.softmax_in_layout)), answers);
    }
    return -1;
  }
};

template std::unique_ptr<spec::Implementation<FlashAttentionScoreGrad>>
open_aclnn<FlashAttentionScoreGrad>(const std::string&);

}  // namespace assay::adapters
