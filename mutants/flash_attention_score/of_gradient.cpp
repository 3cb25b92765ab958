#include "flash_attention_score/of_gradient.hpp"

#include <utility>

namespace assay::mutants::attention_forward {

OfGradient::OfGradient(std::string name, std::unique_ptr<Kernel> kernel)
    : name_(std::move(name)), kernel_(std::move(kernel)) {}

spec::Numerics OfGradient::numerics(const Op::Problem& problem) const {
  return kernel_->numerics(problem);
}

void OfGradient::run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) {
  spec::FlashAttentionScoreGrad::Inputs all{
      .query = inputs.query,
      .key = inputs.key,
      .value = inputs.value,
      .dy = spec::contiguous_tensor(problem.dtype,
                                    shape_of(problem.input_layout, dy_extents(problem))),
      .softmax_max = std::move(outputs.softmax_max),
      .softmax_sum = std::move(outputs.softmax_sum),
      .attention_in = std::move(outputs.attention_out),
      .atten_mask = inputs.atten_mask,
      .pse_shift = inputs.pse_shift,
      .drop_mask = inputs.drop_mask,
      .query_rope = inputs.query_rope,
      .key_rope = inputs.key_rope,
      .sink = inputs.sink};
  kernel_->forward(problem, all);
  outputs.softmax_max = std::move(all.softmax_max);
  outputs.softmax_sum = std::move(all.softmax_sum);
  outputs.attention_out = std::move(all.attention_in);
}

}  // namespace assay::mutants::attention_forward
