#include "assay/spec/operators/flash_attention_score.hpp"

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
    }
    return "";
  }

  static EntryPoint entry_point_of(const Op::Problem& problem) {
    if (!is_packed(problem.input_layout)) return EntryPoint::f2;
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
    contents.output("softmaxMaxOut", p.softmax_max, out.softmax_max);
    contents.output("softmaxSumOut", p.softmax_sum, out.softmax_sum);
    contents.output("attentionOutOut", p.attention_out, out.attention_out);
    return contents;
  }

  /// The prototypes of the entry points have groups of parameters in common.
  static acl::Status ask(Phase1& phase, Arguments& a, const spec::Call<Op>& call) {
    const Op::Parameters& p = call.parameters;
    const Op::Attributes& at = call.attributes;
    const auto query = std::tuple(a.tensor("query", p.query));
    const auto key = std::tuple(a.tensor("key", p.key));
    const auto others = std::tuple(
        a.tensor("value", p.value), a.tensor("realShiftOptional", p.pse_shift),
        a.tensor("dropMaskOptional", p.drop_mask), a.tensor("paddingMaskOptional", p.padding_mask),
        a.tensor("attenMaskOptional", p.atten_mask), a.array(p.prefix));
    const auto starts = std::tuple(a.array(p.q_start_idx), a.array(p.kv_start_idx));
    const auto lengths = std::tuple(a.array(p.actual_seq_qlen), a.array(p.actual_seq_kvlen));
    const auto scalars =
        std::tuple(at.scale_value, at.keep_prob, at.pre_tokens, at.next_tokens, at.head_num,
                   a.text(at.input_layout), at.inner_precise, at.sparse_mode);
    const auto pse_type = std::tuple(at.pse_type);
    const auto results = std::tuple(
        a.tensor("softmaxMaxOut", p.softmax_max), a.tensor("softmaxSumOut", p.softmax_sum),
        a.tensor("softmaxOutOut", p.softmax_out), a.tensor("attentionOutOut", p.attention_out));
    const auto answers = answers_of(phase, p);
    const auto asked = [&](const auto&... runs) {
      return acl::invoke(phase.symbol, std::tuple_cat(runs..., results, answers));
    };
    switch (call.entry_point) {
      case EntryPoint::f1:
        return asked(query, key, others, scalars);
      case EntryPoint::f2:
        return asked(query, key, others, starts, scalars, pse_type);
      case EntryPoint::l1:
        return asked(query, key, others, lengths, scalars);
      case EntryPoint::l2:
        return asked(query, key, others, lengths, starts, scalars, pse_type);
      case EntryPoint::l3:
        return asked(query, std::tuple(a.tensor("queryRope", p.query_rope)), key,
                     std::tuple(a.tensor("keyRope", p.key_rope)), others, lengths, starts, scalars,
                     pse_type);
    }
    return -1;
  }
};

template std::unique_ptr<spec::Implementation<FlashAttentionScore>> open_aclnn<FlashAttentionScore>(
    const std::string&);

}  // namespace assay::adapters
