#include "aclnn/prototypes/flash_attention_score.hpp"

#include "aclnn/driver.hpp"
#include "assay/adapters/aclnn.hpp"

namespace assay::adapters {

using spec::FlashAttentionScore;

template <>
struct EntryPoints<FlashAttentionScore> {
  using Op = FlashAttentionScore;
  using EntryPoint = spec::FlashForwardEntryPoint;

  static std::string symbol(EntryPoint entry_point) {
    const std::string padded = "aclnnFlashAttentionScore",
                      packed = "aclnnFlashAttentionVarLenScore";
    switch (entry_point) {
      case EntryPoint::f1:
        return padded;
      case EntryPoint::f2:
        return padded + "V2";
      case EntryPoint::l1:
        return packed;
      case EntryPoint::l2:
        return packed + "V2";
      case EntryPoint::l3:
        return packed + "V3";
      case EntryPoint::f3:
        return padded + "V3";
      case EntryPoint::l5:
        return packed + "V5";
    }
    return "";
  }

  static EntryPoint entry_point_of(const Op::Problem& problem) {
    if (!is_packed(problem.input_layout))
      return problem.has_sink() ? EntryPoint::f3 : EntryPoint::f2;
    if (problem.has_sink() || problem.softmax_in_layout != spec::SoftmaxInLayout::empty)
      return EntryPoint::l5;
    return problem.head_dim_rope > 0 ? EntryPoint::l3 : EntryPoint::l2;
  }

  static Contents contents(Op::Parameters& p, const Op::Inputs& in, Op::Outputs& out) {
    Contents contents;
    contents.input("query", p.query, in.query);
    contents.input("queryRope", p.query_rope, in.query_rope);
    contents.input("key", p.key, in.key);
    contents.input("keyRope", p.key_rope, in.key_rope);
    contents.input("value", p.value, in.value);
    contents.input("realShiftOptional", p.pse_shift, in.pse_shift);
    contents.input("dropMaskOptional", p.drop_mask, in.drop_mask);
    contents.input("attenMaskOptional", p.atten_mask, in.atten_mask);
    contents.input("sinkOptional", p.sink, in.sink);
    contents.output("softmaxMaxOut", p.softmax_max, out.softmax_max);
    contents.output("softmaxSumOut", p.softmax_sum, out.softmax_sum);
    contents.output("attentionOutOut", p.attention_out, out.attention_out);
    return contents;
  }
};

template std::unique_ptr<spec::Implementation<FlashAttentionScore>> open_aclnn<FlashAttentionScore>(
    const std::string&);

}  // namespace assay::adapters
