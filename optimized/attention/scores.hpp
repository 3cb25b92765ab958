#pragma once

#include "attention/joined_rows.hpp"
#include "attention/position_bias.hpp"

namespace assay::optimized {

/// Computes the scores of a block, including the position bias. One chain of fused multiply-adds
/// sums the products of query and key, then the products of their rope parts.
class Scores {
 public:
  /// Keeps references to its arguments.
  Scores(const spec::AttentionProblem& problem, const AttentionInputs& inputs,
         const tile::Kernels& kernels);

  const JoinedRows& query() const { return query_; }
  const JoinedRows& key() const { return key_; }
  /// Returns the number of channels in a row of query or key, including the rope part.
  std::int64_t channels() const { return channels_; }
  bool biased() const { return bias_.present(); }
  /// Returns the factor by which the caller must multiply the computed scores.
  float scale() const { return biased() && !bias_.scaled_after() ? 1 : scale_; }
  /// Returns the scale factor of query key^T, and of dq and dk.
  float full_scale() const { return scale_; }

  /// Computes `scores` from the block's query rows and the transposed keys. `bias` is used as a
  /// buffer.
  void compute(const Block& block, const Tile& query, const Tile& key_transposed,
               const Tile& scores, const Tile& bias) const {
    multiply(block, query, key_transposed, scores, nullptr);
    add_bias(block, scores, bias);
  }
  /// The two steps of the function `compute`. `asked`: the rows that the caller needs, as in
  /// tile::Product.
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

/// Returns the rows of a tensor. For an absent optional tensor, returns nothing.
Rows rows_of(const spec::AttentionProblem& problem, const spec::Tensor& tensor,
             const spec::Extents& extents, const tile::Kernels& kernels);
std::optional<Rows> rows_of(const spec::AttentionProblem& problem,
                            const std::optional<spec::Tensor>& tensor, const spec::Extents& extents,
                            const tile::Kernels& kernels);

}  // namespace assay::optimized
