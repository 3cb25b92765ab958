#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "assay/reference/attention_scores.hpp"
#include "assay/reference/forward.hpp"
#include "assay/spec/operators/flash_attention_score.hpp"

namespace assay::reference {

/// The results of one query: its softmax statistics and its row of attention_out.
template <class Real>
struct AttentionRow {
  Real softmax_max, softmax_sum;
  std::vector<Real> attention_out;
};

/// Softmax attention, computed from the definition in arithmetic of type Real (double,
/// DoubleDouble, Quad, Fifty, SeventyFive).
///
/// Let S be the scores and Z the dropout factors of AttentionScores, which also defines the shapes.
/// With the maximum and the sums over the unmasked keys of a query,
///
///     softmax_max = max S      softmax_sum = sum exp(S - softmax_max)
///     P = exp(S - softmax_max) / softmax_sum      attention_out = sum P Z value
///
/// Dropout does not change the statistics. A row without an unmasked key has softmax_max -FLT_MAX,
/// softmax_sum FLT_MAX and attention_out 0; a row whose sequence has no key has all three 0.
///
/// A sink is the logit of one more key, whose value is zero, for each query head: it joins the
/// maximum and the sum. Then a row without an unmasked key has the sink as its maximum and sum 1.
///
/// Cost:   one exponential and head_dim + head_dim_v multiplications for every pair that the sparse
///         mode keeps. Rows are independent: any thread may compute them.
/// Errors: none for non-finite inputs: they spread as IEEE 754 says. A masked score is replaced,
///         not multiplied, so it does not spread.
/// Source: aclnnFlashAttentionScore.md, aclnnFlashAttentionVarLenScoreV3.md (formulas),
///         aclnnFlashAttentionScoreV3.md (sink) in the repository ops-transformer; the rows without
///         a key: its op_kernel.
template <class Real>
class FlashAttentionScore {
 public:
  using Scores = AttentionScores<Real>;
  using Problem = spec::FlashAttentionScore::Problem;
  using Inputs = spec::FlashAttentionScore::Inputs;
  using OwnOperands = typename Scores::OwnOperands;

  /// Reads query, key, value, their ropes and the sink. Refers to the tensors of `side`.
  /// Errors: std::invalid_argument as for Mask, PositionBias and Dropout.
  FlashAttentionScore(const Problem& problem, OwnOperands operands, const SideInputs& side);
  /// Uses the operator's own tensors, see AttentionScores::stored. Refers to the mask, pse_shift
  /// and drop_mask inside `inputs`.
  static FlashAttentionScore from(const Problem& problem, const Inputs& inputs,
                                  std::shared_ptr<const ScoreFormula<Real>> formula = nullptr);

  AttentionRow<Real> row(std::int64_t b, std::int64_t n, std::int64_t i) const;
  const Scores& scores() const { return scores_; }

 private:
  explicit FlashAttentionScore(Scores scores);

  Scores scores_;
};

}  // namespace assay::reference
