#include "flash_attention_score_grad/scores.hpp"

#include <algorithm>

namespace assay::optimized {

using Op = spec::FlashAttentionScoreGrad;

Rows rows_of(const Op::Problem& problem, const spec::Tensor& tensor, const spec::Extents& extents,
             const tile::Kernels& kernels) {
  return {tensor, problem.input_layout, extents, kernels};
}

std::optional<Rows> rows_of(const Op::Problem& problem, const std::optional<spec::Tensor>& tensor,
                            const spec::Extents& extents, const tile::Kernels& kernels) {
  if (extents.dim == 0) return std::nullopt;
  return rows_of(problem, tensor.value(), extents, kernels);
}

void transpose(const Tile& from, std::int64_t rows, std::int64_t columns, const Tile& to) {
  constexpr std::int64_t edge = tile::lanes;
  for (std::int64_t i0 = 0; i0 < rows; i0 += edge)
    for (std::int64_t d = 0; d < columns; ++d)
      for (std::int64_t i = i0; i < std::min(i0 + edge, rows); ++i) to.row(d)[i] = from.row(i)[d];
}

void multiply_block(const tile::Kernels& kernels, const Block& block, const Operands& operands,
                    const Tile& result) {
  kernels.multiply({.a = operands.left.at,
                    .a_row = operands.left.stride,
                    .a_depth = 1,
                    .b = operands.right.at,
                    .b_row = operands.right.stride,
                    .c = result.at,
                    .c_row = result.stride,
                    .rows = block.rows,
                    .columns = block.columns,
                    .depth = operands.depth});
}

Scores::Scores(const Op::Problem& problem, const Op::Inputs& inputs, const tile::Kernels& kernels)
    : kernels_(&kernels),
      channels_(problem.head_dim + problem.head_dim_rope),
      query_(rows_of(problem, inputs.query, query_extents(problem), kernels),
             rows_of(problem, inputs.query_rope, query_rope_extents(problem), kernels)),
      key_(rows_of(problem, inputs.key, key_extents(problem), kernels),
           rows_of(problem, inputs.key_rope, key_rope_extents(problem), kernels)),
      bias_(problem, inputs, kernels),
      scale_(static_cast<float>(problem.scale_value)) {}

void Scores::compute(const Block& block, const Tile& query, const Tile& key_transposed,
                     const Tile& scores, const Tile& bias) const {
  multiply_block(*kernels_, block, {query, key_transposed, channels_}, scores);
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
