#include "aclnn/prototypes/nsa_selected_attention.hpp"

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
};

template std::unique_ptr<spec::Implementation<NsaSelectedAttention>>
open_aclnn<NsaSelectedAttention>(const std::string&);

}  // namespace assay::adapters
