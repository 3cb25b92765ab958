#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "assay/reference/real.hpp"
#include "assay/reference/selection.hpp"
#include "assay/spec/operators/nsa_selected_attention_grad.hpp"

namespace assay::reference {

/// Converts the operator's own tensors to dense operands, without rounding. Uses replica 0 of the
/// statistics.
/// Errors: std::invalid_argument for a tensor whose shape is not that of the problem.
template <class Real>
SelectedOperands<Real> operands_of(const spec::NsaSelectedAttentionGrad::Problem& problem,
                                   const spec::NsaSelectedAttentionGrad::Inputs& inputs);

/// The numbers of query (b, n, i) and key j at one entry of the list: the score, the
/// probability, and the gradients of both. If the query does not see the key, prob and dscore are
/// 0.
template <class Real>
struct SelectedPair {
  Real score, prob, dprob, dscore;
};

/// Gradient of one key: rows of dk and dv.
template <class Real>
struct SelectedKeyRow {
  std::vector<Real> dk, dv;
};

/// The gradient of block-selected attention, computed from the definition in arithmetic of type
/// Real (double, DoubleDouble, Quad, Fifty, SeventyFive). Operands are stored as Stored: the
/// operator's own tensors are exact as float, and are converted at each use.
///
/// Let K and V be the keys and values at the entries of a query's list, and S = scale_value * query
/// K^T. P = exp(S - softmax_max) / softmax_sum if the query sees the key, else 0. Then
///
///     dS = P * (attention_out_grad V^T - rowsum(attention_out_grad * attention_out))
///     dq = scale_value * dS K     dk = scale_value * dS^T query     dv = P^T attention_out_grad
///
/// dk and dv of a key are sums over all queries of its sequence, all heads of its group and all
/// entries that contain the key.
///
/// Shapes: query head n reads key head n / (heads_q / heads_kv) and its lists. A query attends only
///         to keys of its own sequence.
/// Units:  softmax_max is a score; exponentials are natural; scale_value is rounded to fp32 before
///         use.
/// Cost:   one exponential for every entry; size() * (2 head_dim + head_dim_v) multiplications for
///         a row of dq; 2 (head_dim + head_dim_v) for a row of dk and dv, for each query that lists
///         the key. Rows are independent: any thread may compute them.
/// Errors: none for non-finite inputs: they spread as IEEE 754 says. If a query does not see a key,
///         the score is replaced, not multiplied, so it does not spread.
/// Source: aclnnNsaSelectedAttentionGrad.md (formulas).
template <class Real, class Stored = Real>
class NsaSelectedAttentionGrad {
 public:
  using Problem = spec::NsaSelectedAttentionGrad::Problem;
  using Inputs = spec::NsaSelectedAttentionGrad::Inputs;

  /// Errors: std::invalid_argument as for Selection.
  NsaSelectedAttentionGrad(const Problem& problem, SelectedOperands<Stored> operands)
      : given_(problem, std::move(operands)) {}
  /// Uses the operator's own tensors, without rounding.
  /// Errors: std::invalid_argument for a tensor whose shape is not that of the problem.
  static NsaSelectedAttentionGrad from(const Problem& problem, const Inputs& inputs);

  SelectedPair<Real> pair(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const;
  /// rowsum(attention_out_grad * attention_out) of a query.
  Real row_term(std::int64_t b, std::int64_t n, std::int64_t i) const {
    return query_side(b, n, i).row_term;
  }
  std::vector<Real> dq_row(std::int64_t b, std::int64_t n, std::int64_t i) const;
  SelectedKeyRow<Real> dkv_row(std::int64_t b, std::int64_t kv, std::int64_t j) const;
  const Selection& selection() const { return given_.selection; }

 private:
  /// Inputs of the formulas for query (b, n, i); row_term is the dot product of attention_out_grad
  /// and attention_out.
  struct QuerySide {
    RowOf<Real> query, attention_out_grad;
    Real softmax_max, softmax_sum, row_term;
  };
  /// Inputs of the formulas for key (b, kv, j).
  struct KeySide {
    RowOf<Real> key, value;
  };

  QuerySide query_side(std::int64_t b, std::int64_t n, std::int64_t i) const;
  KeySide key_side(std::int64_t b, std::int64_t kv, std::int64_t j) const;
  SelectedPair<Real> seen_pair(const QuerySide& query, const KeySide& key) const;

  SelectedGiven<Real, Stored> given_;
};

}  // namespace assay::reference
