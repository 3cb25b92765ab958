#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "assay/reference/attention_scores.hpp"
#include "assay/reference/forward.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::reference {

/// The numbers of query (b, n, i) and key j: the score with its position bias, the probability, the
/// probability after dropout, and the gradients of the probability and of the score. If the mask
/// excludes the key, prob, dropped and dscore are 0. With a formula, `score` is its result, and
/// dscore is the gradient of the score that the formula reads.
template <class Real>
struct Pair {
  Real score, prob, dropped, dprob, dscore;
};

/// Gradient of one query: rows of dq and dq_rope. The row of dq_rope is empty if head_dim_rope is
/// 0.
template <class Real>
struct QueryRow {
  std::vector<Real> dq, dq_rope;
};

/// Gradient of one key: rows of dk, dv and dk_rope.
template <class Real>
struct KeyRow {
  std::vector<Real> dk, dv, dk_rope;
};

/// The gradient of softmax attention, computed from the definition in arithmetic of type Real
/// (double, DoubleDouble, Quad, Fifty, SeventyFive).
///
/// Let S be the scores and Z the dropout factors of AttentionScores, which also defines the shapes.
/// P = exp(S - softmax_max) / softmax_sum for unmasked pairs, else 0. Then
///
///     dv = (P * Z)^T dy          dS = P * (Z * dy value^T - rowsum(dy * attention_in))
///     dq = scale_value * dS key  dk = scale_value * dS^T query
///
/// The gradients of the rope parts have the same formulas as those of query and key. A formula f
/// of a user replaces S by f(S), multiplies dS by f'(S), and masks further pairs. Then
///
///     dformula(k) = sum over pairs of dS * (derivative of f by number k of the formula)
///
/// with dS before its multiplication by f'(S). If the loss also depends on the LSE of a query, its
/// gradient dlse is subtracted from rowsum(dy * attention_in).
///
/// A sink is the logit of one more key, whose value is zero, for each query head. The given
/// statistics include it, so it changes only
///
///     dsink = -sum over queries of exp(sink - softmax_max) / softmax_sum * sum_j P Z (dy value)
///
/// Shapes: dk and dv sum over the query heads of a group; dsink has one element per query head.
/// Units:  softmax_max is a score; exponentials are natural.
/// Cost:   one exponential for every pair that the sparse mode keeps; 3 * head_dim multiplications
///         per pair for dq, and 5 * head_dim for dk and dv together. Rows are independent: any
///         thread may compute them.
/// Errors: none for non-finite inputs: they spread as IEEE 754 says. A masked score is replaced,
///         not multiplied, so it does not spread.
/// Source: FlashAttentionScoreGrad.md (formulas), aclnnFlashAttentionUnpaddingScoreGradV3.md
///         (formulas), aclnnFlashAttentionScoreGradV3.md (sink).
template <class Real>
class FlashAttentionScoreGrad {
 public:
  using Scores = AttentionScores<Real>;
  using Problem = spec::FlashAttentionScoreGrad::Problem;
  using Inputs = spec::FlashAttentionScoreGrad::Inputs;
  using OwnOperands = typename Scores::OwnOperands;

  /// Refers to the tensors of `side`.
  /// Errors: std::invalid_argument as for Mask, PositionBias and Dropout.
  FlashAttentionScoreGrad(const Problem& problem, OwnOperands operands, const SideInputs& side);
  /// Uses the operator's own tensors, see AttentionScores::stored. Refers to the mask, pse_shift
  /// and drop_mask inside `inputs`.
  static FlashAttentionScoreGrad from(const Problem& problem, const Inputs& inputs,
                                      std::shared_ptr<const ScoreFormula<Real>> formula = nullptr);

  Pair<Real> pair(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const;
  /// rowsum(dy * attention_in) of a query.
  Real row_term(std::int64_t b, std::int64_t n, std::int64_t i) const {
    return query_side(b, n, i).row_term;
  }
  QueryRow<Real> dq_row(std::int64_t b, std::int64_t n, std::int64_t i) const;
  KeyRow<Real> dkv_row(std::int64_t b, std::int64_t kv, std::int64_t j) const;
  /// Returns the gradient of the sink of query head n. A query without an unmasked key adds 0.
  /// Errors: std::logic_error if the problem has no sink.
  Real dsink(std::int64_t n) const;
  /// Returns the gradient of number k of the formula: of an element of an array, or of a parameter.
  Real dformula(std::size_t k) const;
  const Mask& mask() const { return scores_.mask(); }
  const PositionBias& position_bias() const { return scores_.position_bias(); }
  const Dropout& dropout() const { return scores_.dropout(); }

 private:
  explicit FlashAttentionScoreGrad(Scores scores);
  /// The inputs of the formulas for query (b, n, i): its row with its rope part, and row_term, the
  /// dot product of dy and attention_in. dlse is the gradient of the LSE of the query.
  struct QuerySide {
    RowOf<Real> query, dy;
    Real softmax_max, softmax_sum, row_term, dlse;
  };
  /// Inputs of the formulas for key (b, kv, j).
  struct KeySide {
    RowOf<Real> key, value;
  };
  QuerySide query_side(std::int64_t b, std::int64_t n, std::int64_t i) const;
  KeySide key_side(std::int64_t b, std::int64_t kv, std::int64_t j) const;
  Pair<Real> kept_pair(const ScorePosition& at, const QuerySide& query, const KeySide& key) const;

  Scores scores_;
};

}  // namespace assay::reference
