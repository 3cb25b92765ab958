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

/// Quantities of query (b, n, i) and key j: the score with its position bias, the probability, the
/// probability after dropout, and the gradients of the probability and of the score. Where the mask
/// excludes the key, prob, dropped and dscore are 0.
template <class Real>
struct Pair {
  Real score, prob, dropped, dprob, dscore;
};

/// Gradient of one query: rows of dq and dq_rope, which is empty if head_dim_rope is 0.
template <class Real>
struct QueryRow {
  std::vector<Real> dq, dq_rope;
};

/// Gradient of one key: rows of dk, dv and dk_rope.
template <class Real>
struct KeyRow {
  std::vector<Real> dk, dv, dk_rope;
};

/// Gradient of softmax attention, computed from the definition in arithmetic of type Real (double,
/// DoubleDouble, Quad, Fifty, SeventyFive).
///
/// With L = query key^T + query_rope key_rope^T, the score S = scale_value * (L + bias) for
/// pse_type 1 and scale_value * L + bias for the others, P = exp(S - softmax_max) / softmax_sum
/// where kept, else 0, and the factor of dropout Z = 1 / keep_prob where its bit is 1, else 0,
///
///     dv = (P * Z)^T dy          dS = P * (Z * dy value^T - rowsum(dy * attention_in))
///     dq = scale_value * dS key  dk = scale_value * dS^T query
///
/// and the gradients of the rope parts as those of query and key.
///
/// Shapes: query head n reads key head n / (heads_q / heads_kv); dk, dv sum over the heads of a
///         group. Queries and keys meet within their sequence b only.
/// Units:  softmax_max is a score; exponentials are natural; scale_value and keep_prob are rounded
///         to fp32 before use.
/// Cost:   of every pair that the sparse mode keeps an exponential, and in a dq row head_dim * 3,
///         in a dk and dv row head_dim * 5 multiplications. Rows are independent: call them from
///         any thread.
/// Errors: a non-finite input is no error: it spreads as IEEE 754 says, but a masked score is
///         replaced, not multiplied.
/// Source: FlashAttentionScoreGrad.md (formulas), aclnnFlashAttentionUnpaddingScoreGradV3.md
///         (formulas).
template <class Real>
class FlashAttentionScoreGrad {
 public:
  using Problem = spec::FlashAttentionScoreGrad::Problem;
  using Inputs = spec::FlashAttentionScoreGrad::Inputs;
  using OwnOperands = Operands<typename RowElement<Real>::Type>;

  /// Refers to the tensors of `side`.
  /// Errors: std::invalid_argument where Mask, PositionBias or Dropout say so.
  FlashAttentionScoreGrad(const Problem& problem, OwnOperands operands, const SideInputs& side);
  /// The operator's own tensors, exact; refers to the mask, pse_shift and drop_mask inside
  /// `inputs`. Large operands are kept as float and converted where they are used.
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
  /// All that the formulas take from query (b, n, i), its rope part behind it; row_term is the dot
  /// product of dy and attention_in.
  struct QuerySide {
    RowOf<Real> query, dy;
    Real softmax_max, softmax_sum, row_term;
  };
  /// All that they take from key (b, kv, j).
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
