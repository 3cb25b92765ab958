#include "aclnn/prototypes/nsa_selected_attention_grad.hpp"

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
};

template std::unique_ptr<spec::Implementation<NsaSelectedAttentionGrad>>
open_aclnn<NsaSelectedAttentionGrad>(const std::string&);

}  // namespace assay::adapters
