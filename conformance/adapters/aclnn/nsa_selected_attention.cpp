#include "assay/spec/operators/nsa_selected_attention.hpp"

#include "aclnn/driver.hpp"
#include "assay/adapters/aclnn.hpp"

namespace assay::adapters {

using spec::NsaSelectedAttention;

template <>
struct EntryPoints<NsaSelectedAttention> {
  using Op = NsaSelectedAttention;

  static std::string symbol(spec::SelectedForwardEntryPoint) { return "aclnnNsaSelectedAttention"; }
  static spec::SelectedForwardEntryPoint entry_point_of(const Op::Problem&) {
    return spec::SelectedForwardEntryPoint::f1;
  }

  static Contents contents(Op::Parameters& p, const Op::Inputs& in, Op::Outputs& out) {
    Contents contents;
    contents.input("query", p.query, in.query);
    contents.input("key", p.key, in.key);
    contents.input("value", p.value, in.value);
    contents.input("topkIndices", p.topk_indices, in.topk_indices);
    contents.input("attenMaskOptional", p.atten_mask, in.atten_mask);
    contents.output("softmaxMaxOut", p.softmax_max, out.softmax_max);
    contents.output("softmaxSumOut", p.softmax_sum, out.softmax_sum);
    contents.output("attentionOut", p.attention_out, out.attention_out);
    return contents;
  }

  static acl::Status ask(Phase1& phase, Arguments& a, const spec::Call<Op>& call) {
    const auto& p = call.parameters;
    const auto& attributes = call.attributes;
    return acl::invoke(
        phase.symbol,
        std::tuple_cat(
            std::tuple(a.tensor("query", p.query), a.tensor("key", p.key),
                       a.tensor("value", p.value), a.tensor("topkIndices", p.topk_indices),
                       a.tensor("attenMaskOptional", p.atten_mask), a.array(p.actual_seq_qlen),
                       a.array(p.actual_seq_kvlen)),
            std::tuple(attributes.scale_value, attributes.head_num, a.text(attributes.input_layout),
                       attributes.sparse_mode, attributes.selected_block_size,
                       attributes.selected_block_count),
            std::tuple(a.tensor("softmaxMaxOut", p.softmax_max),
                       a.tensor("softmaxSumOut", p.softmax_sum),
                       a.tensor("attentionOut", p.attention_out)),
            answers_of(phase, p)));
  }
};

template std::unique_ptr<spec::Implementation<NsaSelectedAttention>>
open_aclnn<NsaSelectedAttention>(const std::string&);

}  // namespace assay::adapters
