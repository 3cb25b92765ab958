#include "operators/nsa_selected_attention_grad/dense.hpp"

#include "operators/nsa_selected_attention_grad/key_pattern.hpp"

namespace assay::conformance::selected {

using Flash = spec::FlashAttentionScoreGrad;

Flash::Problem dense_problem(const Op::Problem& p) {
  return {.input_layout = spec::Layout::tnd,
          .dtype = p.dtype,
          .batch = p.batch,
          .heads_q = p.heads_q,
          .heads_kv = p.heads_kv,
          .seq_q = p.seq_q,
          .seq_kv = p.seq_kv,
          .lengths_q = p.lengths_q,
          .lengths_kv = p.lengths_kv,
          .head_dim = p.head_dim,
          .head_dim_v = p.head_dim_v,
          .scale_value = p.scale_value,
          .statistics_order = spec::StatisticsOrder::tokens_first};
}

AttentionCase dense_case(const Case<Op>& c) {
  return {.problem = dense_problem(c.problem),
          .entry_point = spec::FlashEntryPoint::u4,
          .product = c.product,
          .track = c.track,
          .rows = c.rows,
          .seed = c.seed};
}

attention::GradientTensors gradient_tensors(const Op::Outputs& outputs) {
  return {.dq = &outputs.dq, .dk = &outputs.dk, .dv = &outputs.dv};
}

attention::Dense dense_of(const Op::Problem& p, const Op::Inputs& inputs, attention::Held held) {
  const attention::Operands operands = {.query = &inputs.query,
                                        .key = &inputs.key,
                                        .value = &inputs.value,
                                        .dy = &inputs.attention_out_grad,
                                        .attention_in = &inputs.attention_out,
                                        .softmax_max = &inputs.softmax_max,
                                        .softmax_sum = &inputs.softmax_sum};
  return {dense_problem(p), operands, std::make_shared<ListPattern>(p, inputs.topk_indices), held};
}

}  // namespace assay::conformance::selected
