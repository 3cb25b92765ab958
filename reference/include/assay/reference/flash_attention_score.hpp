#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "assay/reference/attention_scores.hpp"
#include "assay/reference/forward.hpp"
#include "assay/spec/operators/flash_attention_score.hpp"

namespace assay::reference {

/// The results of one query row: its softmax statistics and its row of attention_out.
template <class Real>
struct AttentionRow {
  Real softmax_max, softmax_sum;
  std::vector<Real> attention_out;
};

/// Softmax attention, computed from its definition in arithmetic of type Real (double,
/// DoubleDouble, Quad, Fifty, SeventyFive).
///
/// Let S be the scores and Z the dropout factors of AttentionScores, which also defines the shapes.
/// For each query, with maximum and sums over its unmasked keys,
///
///     softmax_max = max S      softmax_sum = sum exp(S - softmax_max)
///     P = exp(S - softmax_max) / softmax_sum      attention_out = sum P Z value
///
/// Dropout does not change the statistics. A fully masked row has softmax_max -FLT_MAX, softmax_sum
/// FLT_MAX and attention_out 0. If the row's sequence has no keys, all three are 0.
///
/// A sink is one extra logit per query head, for a key with value zero. The logit takes part in the
/// maximum and the sum. With a sink, a fully masked row has softmax_max = sink and softmax_sum = 1.
///
/// Cost:   one exponential and head_dim + head_dim_v multiplications for every pair that the sparse
///         mode leaves unmasked. Rows are independent: any thread may compute them.
/// Errors: none. NaN and infinity in the inputs propagate as in IEEE 754. A masked score is
///         replaced, not multiplied, so a NaN in a masked score does not propagate.
/// Source: aclnnFlashAttentionScore.md, aclnnFlashAttentionVarLenScoreV3.md (formulas),
///         aclnnFlashAttentionScoreV3.md (sink) in the repository ops-transformer; the code in its
///         folder op_kernel (rows without a key).
template <class Real>
class FlashAttentionScore {
 public:
  using Scores = AttentionScores<Real>;
  using Problem = spec::FlashAttentionScore::Problem;
  using Inputs = spec::FlashAttentionScore::Inputs;
  using OwnOperands = typename Scores::OwnOperands;

  /// Reads query, key, value, their rope parts and the sink. Keeps references to the tensors in
  /// `side` (mask, position bias, drop mask).
  /// Errors: std::invalid_argument as in the constructors of Mask, PositionBias and Dropout.
  FlashAttentionScore(const Problem& problem, OwnOperands operands, const SideInputs& side);
  /// Creates the object from the tensors of a call (see AttentionScores::stored). Keeps references
  /// to `inputs`.
  static FlashAttentionScore from(const Problem& problem, const Inputs& inputs,
                                  std::shared_ptr<const ScoreFormula<Real>> formula = nullptr);
  static FlashAttentionScore from(const Problem& problem, Inputs&& inputs,
                                  std::shared_ptr<const ScoreFormula<Real>> formula = nullptr) =
      delete;

  AttentionRow<Real> row(std::int64_t b, std::int64_t n, std::int64_t i) const;
  const Scores& scores() const { return scores_; }

 private:
  explicit FlashAttentionScore(Scores scores);

  Scores scores_;
};

}  // namespace assay::reference
