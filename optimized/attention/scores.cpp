#include "attention/scores.hpp"

#include "operands/products.hpp"

namespace assay::optimized {

Rows rows_of(const spec::AttentionProblem& problem, const spec::Tensor& tensor,
             const spec::Extents& extents, const tile::Kernels& kernels) {
  return {tensor, problem.input_layout, extents, kernels};
}

std::optional<Rows> rows_of(const spec::AttentionProblem& problem,
                            const std::optional<spec::Tensor>& tensor, const spec::Extents& extents,
                            const tile::Kernels& kernels) {
  if (extents.dim == 0) return std::nullopt;
  return rows_of(problem, tensor.value(), extents, kernels);
}

Scores::Scores(const spec::AttentionProblem& problem, const AttentionInputs& inputs,
               const tile::Kernels& kernels)
    : kernels_(&kernels),
      channels_(problem.head_dim + problem.head_dim_rope),
      query_(rows_of(problem, inputs.query, query_extents(problem), kernels),
             rows_of(problem, inputs.query_rope, query_rope_extents(problem), kernels)),
      key_(rows_of(problem, inputs.key, key_extents(problem), kernels),
           rows_of(problem, inputs.key_rope, key_rope_extents(problem), kernels)),
      bias_(problem, inputs, kernels),
      scale_(static_cast<float>(problem.scale_value)) {}

void Scores::multiply(const Block& block, const Tile& query, const Tile& key_transposed,
                      const Tile& scores, const tile::RowRange* asked) const {
  optimized::multiply(*kernels_,
                      {.left = query,
                       .right = key_transposed,
                       .rows = block.rows,
                       .columns = block.columns,
                       .depth = channels_,
                       .asked = asked},
                      scores);
}

void Scores::add_bias(const Block& block, const Tile& scores, const Tile& bias) const {
  if (!biased()) return;
  const BiasRows rows = bias_.read(block, bias);
  kernels_->add_bias({.scores = scores.at,
                      .row_stride = scores.stride,
                      .bias = rows.at,
                      .bias_stride = rows.stride,
                      .rows = block.rows,
                      .columns = block.columns,
                      .scale = bias_.scaled_after() ? 1 : scale_});
}

}  // namespace assay::optimized
