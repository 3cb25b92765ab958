#include "assay/spec/operators/flash_attention_score_grad.hpp"
#include "operators/attention/described.hpp"

namespace assay::spec {

using Op = FlashAttentionScoreGrad;

Call<Op> call_of(const Op::Problem& p, FlashEntryPoint entry_point, Product product,
                 const Strides& inputs, const Strides& outputs) {
  Call<Op> call = detail::shared_call_of<Op>(p, entry_point, product);
  Op::Parameters& t = call.parameters;
  t.dy = t.attention_in = detail::laid_out(p, dy_extents(p));
  t.dq = t.query;
  t.dk = t.key;
  t.dv = t.value;
  t.dq_rope = t.query_rope;
  t.dk_rope = t.key_rope;
  t.dsink = t.sink;
  detail::apply_strides<Op::Outputs>(t, inputs, outputs);
  if (has_softmax_in_layout(entry_point))
    call.attributes.softmax_in_layout =
        p.softmax_in_layout == SoftmaxInLayout::empty ? "" : "same_as_input";
  return call;
}

}  // namespace assay::spec
