#include "assay/spec/operators/nsa_selected_attention_grad.hpp"

#include "aclnn/driver.hpp"
#include "assay/adapters/aclnn.hpp"

namespace assay::adapters {

using spec::NsaSelectedAttentionGrad;

template <>
struct EntryPoints<NsaSelectedAttentionGrad> {
  using Op = NsaSelectedAttentionGrad;

  static std::string symbol(spec::SelectedEntryPoint) { return "aclnnNsaSelectedAttentionGrad"; }
  static spec::SelectedEntryPoint entry_point_of(const Op::Problem&) {
    return spec::SelectedEntryPoint::s1;
  }

  static Contents contents(Op::Parameters& p, const Op::Inputs& in, Op::Outputs& out) {
    Contents contents;
    contents.input("query", p.query, in.query);
    contents.input("key", p.key, in.key);
    contents.input("value", p.value, in.value);
    contents.input("attentionOut", p.attention_out, in.attention_out);
    contents.input("attentionOutGrad", p.attention_out_grad, in.attention_out_grad);
    contents.input("softmaxMax", p.softmax_max, in.softmax_max);
    contents.input("softmaxSum", p.softmax_sum, in.softmax_sum);
    contents.input("topkIndices", p.topk_indices, in.topk_indices);
    contents.input("attenMaskOptional", p.atten_mask, in.atten_mask);
    contents.output("dqOut", p.dq, out.dq);
    contents.output("dkOut", p.dk, out.dk);
    contents.output("dvOut", p.dv, out.dv);
    return contents;
  }

  static acl::Status ask(Phase1& phase, Arguments& a, const spec::Call<Op>& call) {
    const auto& p = call.parameters;
    const auto& attributes = call.attributes;
    return acl::invoke(
        phase.symbol,
        std::tuple_cat(
            std::tuple(a.tensor("query", p.query), a.tensor("key", p.key),
                       a.tensor("value", p.value), a.tensor("attentionOut", p.attention_out),
                       a.tensor("attentionOutGrad", p.attention_out_grad),
                       a.tensor("softmaxMax", p.softmax_max), a.tensor("softmaxSum", p.softmax_sum),
                       a.tensor("topkIndices", p.topk_indices), a.array(p.actual_seq_qlen),
                       a.array(p.actual_seq_kvlen), a.tensor("attenMaskOptional", p.atten_mask)),
            std::tuple(attributes.scale_value, attributes.selected_block_size,
                       attributes.selected_block_count, attributes.head_num,
                       a.text(attributes.input_layout), attributes.sparse_mode),
            std::tuple(a.tensor("dqOut", p.dq), a.tensor("dkOut", p.dk), a.tensor("dvOut", p.dv)),
            answers_of(phase, p)));
  }
};

template std::unique_ptr<spec::Implementation<NsaSelectedAttentionGrad>>
open_aclnn<NsaSelectedAttentionGrad>(const std::string&);

}  // namespace assay::adapters
