#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "assay/reference/attention_scores.hpp"
#include "assay/reference/forward.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::reference {

/// All intermediate numbers of query (b, n, i) and key j: the score with its position bias, the
/// probability, the probability after dropout, and the gradients of the probability and of the
/// score. If the mask excludes the key, prob, dropped and dscore are 0. With a user's formula,
/// `score` is the value of the formula, and dscore is the gradient of the score before the formula.
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

/// The gradient of softmax attention, computed from its definition in arithmetic of type Real
/// (double, DoubleDouble, Quad, Fifty, SeventyFive).
///
/// Let S be the scores and Z the dropout factors of AttentionScores, which also defines the shapes.
/// P = exp(S - softmax_max) / softmax_sum for unmasked pairs, else 0. Then
///
///     dv = (P * Z)^T dy          dS = P * (Z * dy value^T - rowsum(dy * attention_in))
///     dq = scale_value * dS key  dk = scale_value * dS^T query
///
/// The rope parts have the same gradient formulas as query and key. A formula f of the user
/// replaces S by f(S), multiplies dS by f'(S), and may mask more pairs. The gradient of the
/// formula's number k is
///
///     dformula(k) = sum over pairs of dS * (derivative of f with respect to number k)
///
/// where dS is not yet multiplied by f'(S). If the loss also depends on the LSE of a query, its
/// gradient dlse is subtracted from rowsum(dy * attention_in).
///
/// A sink is one extra logit per query head, for a key with value zero. The given statistics
/// already include the sink. The only additional output is
///
///     dsink = -sum over queries of exp(sink - softmax_max) / softmax_sum * sum_j P Z (dy value)
///
/// Shapes: dk and dv sum over the query heads of a group; dsink has one element per query head.
/// Units:  softmax_max is a score; exponentials are natural.
/// Cost:   one exponential for every pair that the sparse mode leaves unmasked; 3 * head_dim
///         multiplications per pair for dq, and 5 * head_dim for dk and dv together. Rows are
///         independent: any thread may compute them.
/// Errors: none. NaN and infinity in the inputs propagate as in IEEE 754. A masked score is
///         replaced, not multiplied, so a NaN in a masked score does not propagate.
/// Source: FlashAttentionScoreGrad.md (formulas), aclnnFlashAttentionUnpaddingScoreGradV3.md
///         (formulas), aclnnFlashAttentionScoreGradV3.md (sink).
template <class Real>
class FlashAttentionScoreGrad {
 public:
  using Scores = AttentionScores<Real>;
  using Problem = spec::FlashAttentionScoreGrad::Problem;
  using Inputs = spec::FlashAttentionScoreGrad::Inputs;
  using OwnOperands = typename Scores::OwnOperands;

  /// Keeps references to the tensors in `side` (mask, position bias, drop mask).
  /// Errors: std::invalid_argument as in the constructors of Mask, PositionBias and Dropout.
  FlashAttentionScoreGrad(const Problem& problem, OwnOperands operands, const SideInputs& side);
  /// Creates the object from the tensors of a call (see AttentionScores::stored). Keeps references
  /// to `inputs`.
  static FlashAttentionScoreGrad from(const Problem& problem, const Inputs& inputs,
                                      std::shared_ptr<const ScoreFormula<Real>> formula = nullptr);
  static FlashAttentionScoreGrad from(const Problem& problem, Inputs&& inputs,
                                      std::shared_ptr<const ScoreFormula<Real>> formula = nullptr) =
      delete;

  Pair<Real> pair(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const;
  /// Returns rowsum(dy * attention_in) for one query: the dot product of its rows of dy and
  /// attention_in.
  Real row_term(std::int64_t b, std::int64_t n, std::int64_t i) const {
    return query_side(b, n, i).row_term;
  }
  QueryRow<Real> dq_row(std::int64_t b, std::int64_t n, std::int64_t i) const;
  KeyRow<Real> dkv_row(std::int64_t b, std::int64_t kv, std::int64_t j) const;
  /// Returns the gradient of the sink of query head n. A fully masked query row adds 0.
  /// Errors: std::logic_error if the problem has no sink.
  Real dsink(std::int64_t n) const;
  /// Returns the gradient of number k of the user's formula (an array element or a parameter).
  Real dformula(std::size_t k) const;
  const Mask& mask() const { return scores_.mask(); }
  const PositionBias& position_bias() const { return scores_.position_bias(); }
  const Dropout& dropout() const { return scores_.dropout(); }

 private:
  explicit FlashAttentionScoreGrad(Scores scores);
  /// Inputs of the gradient formulas for query (b, n, i): its row with the rope part, its row of
  /// dy, its statistics, row_term = dot product of dy and attention_in, and dlse = gradient of its
  /// LSE.
  struct QuerySide {
    RowOf<Real> query, dy;
    Real softmax_max, softmax_sum, row_term, dlse;
  };
  /// Inputs of the gradient formulas for key (b, kv, j): its rows of key and value.
  struct KeySide {
    RowOf<Real> key, value;
  };
  QuerySide query_side(std::int64_t b, std::int64_t n, std::int64_t i) const;
  KeySide key_side(std::int64_t b, std::int64_t kv, std::int64_t j) const;
  Pair<Real> kept_pair(const ScorePosition& at, const QuerySide& query, const KeySide& key) const;

  Scores scores_;
};

}  // namespace assay::reference
