#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "assay/reference/mask.hpp"
#include "assay/reference/real.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::reference {

/// Dense operands in arithmetic of type Real, each (batch, heads, seq, dim) row-major; the statistics and
/// attention_in as Real, so that an exact forward can be differentiated.
template <class Real>
struct Operands {
  std::vector<Real> query, key, value, dy;
  std::vector<Real> softmax_max, softmax_sum;  ///< (batch, heads_q, seq_q)
  std::vector<Real> attention_in;
};

/// The operator's own tensors, densely and exactly; of the statistics replica 0. float suffices for every type.
/// Errors: std::invalid_argument for a tensor whose shape is not that of the problem.
template <class Real>
Operands<Real> operands_of(const spec::FlashAttentionScoreGrad::Problem& problem,
                           const spec::FlashAttentionScoreGrad::Inputs& inputs);

/// Quantities of query (b, n, i) and key j. Where the mask excludes the key, prob and dscore are 0.
template <class Real>
struct Pair {
  Real score, prob, dprob, dscore;
};

/// Gradient of one key: rows of dk and dv.
template <class Real>
struct KeyRow {
  std::vector<Real> dk, dv;
};

/// Softmax statistics and attention output, (batch, heads_q, seq_q) and (..., head_dim_v) row-major.
template <class Real>
struct Forward {
  std::vector<Real> softmax_max, softmax_sum, attention_out;
};

/// Gradient of softmax attention, computed from the definition in arithmetic of type Real (double, Quad, Fifty).
///
/// With S = scale_value * query key^T and P = exp(S - softmax_max) / softmax_sum where kept, else 0,
///
///     dv = P^T dy                dS = P * (dy value^T - rowsum(dy * attention_in))
///     dq = scale_value * dS key  dk = scale_value * dS^T query
///
/// Shapes: query head n reads key head n / (heads_q / heads_kv); dk, dv sum over the heads of a group.
/// Units:  softmax_max is a scaled score; exponentials are natural; scale_value is rounded to fp32 before use.
/// Cost:   a dq row is seq_kv * head_dim * 3 multiplications, a dk and dv row seq_q * group * head_dim * 5, and an
///         exponential per pair; excluded pairs cost nothing. Rows are independent: call them from any thread.
/// Errors: a non-finite input is no error: it spreads as IEEE 754 says, but a masked score is replaced, not multiplied.
/// Source: FlashAttentionScoreGrad.md (formulas).
template <class Real>
class FlashAttentionScoreGrad {
 public:
  using Problem = spec::FlashAttentionScoreGrad::Problem;
  using Inputs = spec::FlashAttentionScoreGrad::Inputs;

  /// Refers to `atten_mask` (null: no mask).
  FlashAttentionScoreGrad(const Problem& problem, Operands<Real> operands,
                          const spec::Tensor* atten_mask);
  /// The operator's own tensors, exact; refers to the mask inside `inputs`. Large operands are kept as float and
  /// converted where they are used.
  /// Errors: std::invalid_argument for a tensor whose shape is not that of the problem.
  static FlashAttentionScoreGrad from(const Problem& problem, const Inputs& inputs);

  Pair<Real> pair(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const;
  std::vector<Real> dq_row(std::int64_t b, std::int64_t n, std::int64_t i) const;
  KeyRow<Real> dkv_row(std::int64_t b, std::int64_t kv, std::int64_t j) const;
  const Mask& mask() const { return mask_; }

 private:
  /// All that the formulas take from query (b, n, i); row_term is the dot product of dy and attention_in.
  struct QuerySide {
    std::vector<Real> query, dy;
    Real softmax_max, softmax_sum, row_term;
  };
  /// All that they take from key (b, kv, j).
  struct KeySide {
    std::vector<Real> key, value;
  };
  using Stored = std::variant<Operands<Real>, Operands<float>>;

  FlashAttentionScoreGrad(const Problem& problem, Stored operands, const spec::Tensor* atten_mask);
  QuerySide query_side(std::int64_t b, std::int64_t n, std::int64_t i) const;
  KeySide key_side(std::int64_t b, std::int64_t kv, std::int64_t j) const;
  Pair<Real> kept_pair(const QuerySide& query, const KeySide& key) const;

  Problem problem_;
  Stored operands_;
  Mask mask_;
  Real scale_;
};

/// The forward from the definition. softmax_max and softmax_sum of a row without kept key are -FLT_MAX and FLT_MAX,
/// its output is 0.
template <class Real>
Forward<Real> forward(const spec::FlashAttentionScoreGrad::Problem& problem,
                      const Operands<Real>& operands, const spec::Tensor* atten_mask);

/// The same in double, blocked and parallel over (batch, head, rows), for long sequences; reads the operator's tensors
/// (query, key, value, atten_mask) and leaves the others alone. softmax_max is already rounded to float and softmax_sum
/// belongs to the rounded maximum. Bit-identical for any number of threads (0: all cores) and any SIMD width: dot products
/// and outputs are chains over ascending d and j, the sum is eight chains over j mod 8, added in ascending order.
/// Cost: seq_q * seq_kv * (head_dim + head_dim_v) multiplications a head, less what modes 2 and 3 exclude.
Forward<double> blocked_forward(const spec::FlashAttentionScoreGrad::Problem& problem,
                                const spec::FlashAttentionScoreGrad::Inputs& inputs,
                                int threads = 0);

}  // namespace assay::reference
