#include "aclnn/prototypes/flash_attention_score_grad.hpp"

#include "aclnn/driver.hpp"
#include "assay/adapters/aclnn.hpp"

namespace assay::adapters {

using spec::FlashAttentionScoreGrad;

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
      case spec::FlashEntryPoint::g3:
        return padded + "V3";
      case spec::FlashEntryPoint::u5:
        return packed + "V5";
    }
    return "";
  }

  static spec::FlashEntryPoint entry_point_of(const Op::Problem& problem) {
    if (problem.has_sink())
      return is_packed(problem.input_layout) ? spec::FlashEntryPoint::u5
                                             : spec::FlashEntryPoint::g3;
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
    contents.input("sinkInOptional", p.sink, in.sink);
    contents.output("dqOut", p.dq, out.dq);
    contents.output("dqRopeOut", p.dq_rope, out.dq_rope);
    contents.output("dkOut", p.dk, out.dk);
    contents.output("dkRopeOut", p.dk_rope, out.dk_rope);
    contents.output("dvOut", p.dv, out.dv);
    contents.output("dsinkOut", p.dsink, out.dsink);
    return contents;
  }
};

template std::unique_ptr<spec::Implementation<FlashAttentionScoreGrad>>
open_aclnn<FlashAttentionScoreGrad>(const std::string&);

}  // namespace assay::adapters
