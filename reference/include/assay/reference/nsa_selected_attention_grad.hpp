#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "assay/reference/real.hpp"
#include "assay/reference/selection.hpp"
#include "assay/spec/operators/nsa_selected_attention_grad.hpp"

namespace assay::reference {

/// Converts the tensors of a call to dense arrays, without rounding. The statistics are stored as
/// equal copies (replicas); this function reads the first copy.
/// Errors: std::invalid_argument if a tensor's shape does not match `problem`.
template <class Real>
SelectedOperands<Real> operands_of(const spec::NsaSelectedAttentionGrad::Problem& problem,
                                   const spec::NsaSelectedAttentionGrad::Inputs& inputs);

/// The intermediate numbers of query (b, n, i) and key j, for one entry of the query's list of
/// selected keys: the score, the probability, and the gradients of both. If the key is masked, prob
/// and dscore are 0.
template <class Real>
struct SelectedPair {
  Real score, prob, dprob, dscore;
};

/// Gradient of one key: rows of dk and dv.
template <class Real>
struct SelectedKeyRow {
  std::vector<Real> dk, dv;
};

/// The gradient of block-selected attention, computed from its definition in arithmetic of type
/// Real (double, DoubleDouble, Quad, Fifty, SeventyFive). Operands are stored in type Stored: float
/// represents the elements of a call's tensors exactly, and elements are converted at each use.
///
/// Let K and V be the keys and values in a query's list of selected keys, and S = scale_value *
/// query K^T. P = exp(S - softmax_max) / softmax_sum for unmasked keys, else 0. Then
///
///     dS = P * (attention_out_grad V^T - rowsum(attention_out_grad * attention_out))
///     dq = scale_value * dS K     dk = scale_value * dS^T query     dv = P^T attention_out_grad
///
/// dk and dv of a key are sums over all queries of its sequence, all query heads of its group and
/// all list entries that contain the key.
///
/// Shapes: query head n reads key head n / (heads_q / heads_kv) and its lists. A query attends only
///         to keys of its own sequence.
/// Units:  softmax_max is a score; exponentials are natural; scale_value is rounded to fp32 before
///         use.
/// Cost:   one exponential for every list entry; size() * (2 head_dim + head_dim_v) multiplications
///         for a row of dq; 2 (head_dim + head_dim_v) for a row of dk and dv, for each query that
///         lists the key. Rows are independent: any thread may compute them.
/// Errors: none. NaN and infinity in the inputs propagate as in IEEE 754. A masked score is
///         replaced, not multiplied, so a NaN in a masked score does not propagate.
/// Source: aclnnNsaSelectedAttentionGrad.md (formulas).
template <class Real, class Stored = Real>
class NsaSelectedAttentionGrad {
 public:
  using Problem = spec::NsaSelectedAttentionGrad::Problem;
  using Inputs = spec::NsaSelectedAttentionGrad::Inputs;

  /// Errors: std::invalid_argument as in the constructor of Selection.
  NsaSelectedAttentionGrad(const Problem& problem, SelectedOperands<Stored> operands)
      : given_(problem, std::move(operands)) {}
  /// Creates the object from the tensors of a call, without rounding.
  /// Errors: std::invalid_argument if a tensor's shape does not match `problem`.
  static NsaSelectedAttentionGrad from(const Problem& problem, const Inputs& inputs);

  SelectedPair<Real> pair(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const;
  /// Returns rowsum(attention_out_grad * attention_out) for one query: the dot product of its rows
  /// of attention_out_grad and attention_out.
  Real row_term(std::int64_t b, std::int64_t n, std::int64_t i) const {
    return query_side(b, n, i).row_term;
  }
  std::vector<Real> dq_row(std::int64_t b, std::int64_t n, std::int64_t i) const;
  SelectedKeyRow<Real> dkv_row(std::int64_t b, std::int64_t kv, std::int64_t j) const;
  const Selection& selection() const { return given_.selection; }

 private:
  /// Inputs of the gradient formulas for query (b, n, i). row_term is the dot product of its rows
  /// of attention_out_grad and attention_out.
  struct QuerySide {
    RowOf<Real> query, attention_out_grad;
    Real softmax_max, softmax_sum, row_term;
  };
  /// Inputs of the gradient formulas for key (b, kv, j): its rows of key and value.
  struct KeySide {
    RowOf<Real> key, value;
  };

  QuerySide query_side(std::int64_t b, std::int64_t n, std::int64_t i) const;
  KeySide key_side(std::int64_t b, std::int64_t kv, std::int64_t j) const;
  SelectedPair<Real> seen_pair(const QuerySide& query, const KeySide& key) const;

  SelectedGiven<Real, Stored> given_;
};

}  // namespace assay::reference
