#include "assay/spec/operators/flash_attention_score.hpp"
#include "operators/attention/described.hpp"

namespace assay::spec {

using Op = FlashAttentionScore;

Call<Op> call_of(const AttentionProblem& p, FlashForwardEntryPoint entry_point, Product product,
                 const Strides& inputs, const Strides& outputs) {
  Call<Op> call = detail::shared_call_of<Op>(p, entry_point, product);
  call.parameters.attention_out = detail::laid_out(p, dy_extents(p));
  if (call.parameters.atten_mask.present) call.attributes.inner_precise = invalid_row_handling;
  if (has_softmax_in_layout(entry_point))
    call.attributes.softmax_out_layout =
        p.softmax_in_layout == SoftmaxInLayout::empty ? "" : "same_as_input";
  detail::apply_strides<Op::Outputs>(call.parameters, inputs, outputs);
  return call;
}

}  // namespace assay::spec
