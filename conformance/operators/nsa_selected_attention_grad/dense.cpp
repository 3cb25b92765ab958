#include "operators/nsa_selected_attention_grad/dense.hpp"

#include "selection/key_pattern.hpp"

namespace assay::conformance::selected {

attention::GradientTensors gradient_tensors(const Op::Outputs& outputs) {
  return {.dq = &outputs.dq, .dk = &outputs.dk, .dv = &outputs.dv};
}

attention::Dense dense_of(const Op::Problem& p, const Op::Inputs& inputs) {
  const attention::Operands operands = {.query = &inputs.query,
                                        .key = &inputs.key,
                                        .value = &inputs.value,
                                        .dy = &inputs.attention_out_grad,
                                        .attention_in = &inputs.attention_out,
                                        .softmax_max = &inputs.softmax_max,
                                        .softmax_sum = &inputs.softmax_sum};
  return {dense_problem(p), operands, std::make_shared<ListPattern>(p, inputs.topk_indices)};
}

}  // namespace assay::conformance::selected
