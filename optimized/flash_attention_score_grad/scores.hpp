#pragma once

#include "flash_attention_score_grad/joined_rows.hpp"
#include "flash_attention_score_grad/position_bias.hpp"

namespace assay::optimized {

/// Computes the scores of a block with their position bias: products of query and key, then of
/// their rope parts, in one chain.
class Scores {
 public:
  using Op = spec::FlashAttentionScoreGrad;

  /// It refers to its arguments.
  Scores(const Op::Problem& problem, const Op::Inputs& inputs, const tile::Kernels& kernels);

  const JoinedRows& query() const { return query_; }
  const JoinedRows& key() const { return key_; }
  /// Channels of a row of query or key, the rope part included.
  std::int64_t channels() const { return channels_; }
  bool biased() const { return bias_.present(); }
  /// What the scores are still to be multiplied by.
  float scale() const { return biased() && !bias_.scaled_after() ? 1 : scale_; }
  /// What the products are multiplied by, and the gradients of query and key.
  float full_scale() const { return scale_; }

  /// Fills `scores` from the block's rows of query and the transposed keys; `bias` is room for it.
  void compute(const Block& block, const Tile& query, const Tile& key_transposed,
               const Tile& scores, const Tile& bias) const {
    multiply(block, query, key_transposed, scores, nullptr);
    add_bias(block, scores, bias);
  }
  /// Both steps of it; `asked` as in tile::Product.
  void multiply(const Block& block, const Tile& query, const Tile& key_transposed,
                const Tile& scores, const tile::RowRange* asked) const;
  void add_bias(const Block& block, const Tile& scores, const Tile& bias) const;

 private:
  const tile::Kernels* kernels_;
  std::int64_t channels_;
  JoinedRows query_, key_;
  PositionBias bias_;
  float scale_;
};

/// The rows of a head's tensor; of an optional one nothing where it has no channels.
Rows rows_of(const spec::FlashAttentionScoreGrad::Problem& problem, const spec::Tensor& tensor,
             const spec::Extents& extents, const tile::Kernels& kernels);
std::optional<Rows> rows_of(const spec::FlashAttentionScoreGrad::Problem& problem,
                            const std::optional<spec::Tensor>& tensor, const spec::Extents& extents,
                            const tile::Kernels& kernels);

}  // namespace assay::optimized
