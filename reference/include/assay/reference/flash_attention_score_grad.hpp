#pragma once

#include <cstdint>
#include <type_traits>
#include <variant>
#include <vector>

#include "assay/reference/dropout.hpp"
#include "assay/reference/forward.hpp"
#include "assay/reference/mask.hpp"
#include "assay/reference/operands.hpp"
#include "assay/reference/position_bias.hpp"
#include "assay/reference/real.hpp"
#include "assay/reference/side_inputs.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::reference {

/// The numbers of query (b, n, i) and key j: the score with its position bias, the probability, the
/// probability after dropout, and the gradients of the probability and of the score. If the mask
/// excludes the key, prob, dropped and dscore are 0.
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
/// Let L = query key^T + query_rope key_rope^T. The score is S = scale_value * (L + bias) for
/// pse_type 1, and S = scale_value * L + bias for the other types. P = exp(S - softmax_max) /
/// softmax_sum for unmasked pairs, else 0. The dropout factor is Z = 1 / keep_prob if the bit of
/// the score is 1, else 0. Then
///
///     dv = (P * Z)^T dy          dS = P * (Z * dy value^T - rowsum(dy * attention_in))
///     dq = scale_value * dS key  dk = scale_value * dS^T query
///
/// The gradients of the rope parts have the same formulas as those of query and key.
///
/// Shapes: query head n reads key head n / (heads_q / heads_kv); dk, dv sum over the heads of a
///         group. A query attends only to keys of its own sequence b.
/// Units:  softmax_max is a score; exponentials are natural; scale_value and keep_prob are rounded
///         to fp32 before use.
/// Cost:   one exponential for every pair that the sparse mode keeps; 3 * head_dim multiplications
///         per pair for dq, and 5 * head_dim for dk and dv together. Rows are independent: any
///         thread may compute them.
/// Errors: none for non-finite inputs: they spread as IEEE 754 says. A masked score is replaced,
///         not multiplied, so it does not spread.
/// Source: FlashAttentionScoreGrad.md (formulas), aclnnFlashAttentionUnpaddingScoreGradV3.md
///         (formulas).
template <class Real>
class FlashAttentionScoreGrad {
 public:
  using Problem = spec::FlashAttentionScoreGrad::Problem;
  using Inputs = spec::FlashAttentionScoreGrad::Inputs;
  using OwnOperands = Operands<typename RowElement<Real>::Type>;

  /// Refers to the tensors of `side`.
  /// Errors: std::invalid_argument as for Mask, PositionBias and Dropout.
  FlashAttentionScoreGrad(const Problem& problem, OwnOperands operands, const SideInputs& side);
  /// Uses the operator's own tensors, without rounding. Refers to the mask, pse_shift and drop_mask
  /// inside `inputs`. Large operands are stored as float and converted at each use.
  /// Errors: std::invalid_argument for a tensor whose shape is not that of the problem.
  static FlashAttentionScoreGrad from(const Problem& problem, const Inputs& inputs);

  Pair<Real> pair(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const;
  /// rowsum(dy * attention_in) of a query.
  Real row_term(std::int64_t b, std::int64_t n, std::int64_t i) const {
    return query_side(b, n, i).row_term;
  }
  QueryRow<Real> dq_row(std::int64_t b, std::int64_t n, std::int64_t i) const;
  KeyRow<Real> dkv_row(std::int64_t b, std::int64_t kv, std::int64_t j) const;
  const Mask& mask() const { return mask_; }
  const PositionBias& position_bias() const { return position_bias_; }
  const Dropout& dropout() const { return dropout_; }

 private:
  struct Position {
    std::int64_t b, n, i, j;
  };
  /// Inputs of the formulas for query (b, n, i): its row followed by its rope part, and row_term,
  /// the dot product of dy and attention_in.
  struct QuerySide {
    RowOf<Real> query, dy;
    Real softmax_max, softmax_sum, row_term;
  };
  /// Inputs of the formulas for key (b, kv, j).
  struct KeySide {
    RowOf<Real> key, value;
  };
  using Stored =
      std::conditional_t<std::is_same_v<OwnOperands, Operands<float>>,
                         std::variant<Operands<float>>, std::variant<OwnOperands, Operands<float>>>;

  FlashAttentionScoreGrad(const Problem& problem, Stored operands, const SideInputs& side);
  QuerySide query_side(std::int64_t b, std::int64_t n, std::int64_t i) const;
  KeySide key_side(std::int64_t b, std::int64_t kv, std::int64_t j) const;
  Pair<Real> kept_pair(const Position& at, const QuerySide& query, const KeySide& key) const;

  Problem problem_;
  Stored operands_;
  Mask mask_;
  PositionBias position_bias_;
  Dropout dropout_;
  spec::Extents queries_, keys_;
  Real scale_;
};

}  // namespace assay::reference
