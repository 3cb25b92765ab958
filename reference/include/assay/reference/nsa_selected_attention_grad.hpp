#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "assay/reference/real.hpp"
#include "assay/spec/operators/nsa_selected_attention_grad.hpp"

namespace assay::reference {

/// Dense operands in arithmetic of type Real, with rows in the order of `spec::Extents::row`. The
/// statistics and attention_out are stored as Real, so that the gradient can use the unrounded
/// results of a forward.
template <class Real>
struct SelectedOperands {
  std::vector<Real> query, key, value, attention_out_grad;
  std::vector<Real> softmax_max, softmax_sum;  ///< one per query row
  std::vector<Real> attention_out;
  std::vector<std::int64_t> topk_indices;  ///< selected_block_count per query and key head
  friend bool operator==(const SelectedOperands&, const SelectedOperands&) = default;
};

/// Converts the operator's own tensors to dense operands, without rounding. Uses replica 0 of the
/// statistics.
/// Errors: std::invalid_argument for a tensor whose shape is not that of the problem.
template <class Real>
SelectedOperands<Real> operands_of(const spec::NsaSelectedAttentionGrad::Problem& problem,
                                   const spec::NsaSelectedAttentionGrad::Inputs& inputs);

/// Describes which keys each query lists, and which of these keys are unmasked ("the query sees
/// them").
/// Source: aclnnNsaSelectedAttentionGrad.md (formulas, topkIndices, sparseMode).
class Selection {
 public:
  /// In sparse mode 2 with a mask, a query sees only the keys up to its own position. Queries and
  /// keys count from the start of their sequences. The elements of the mask are not read, because
  /// the documentation prescribes them.
  /// Errors: std::invalid_argument for a sparse mode other than 0 and 2, for a number of indices
  /// that differs from the problem's, and for an index of a block that is not wholly inside its
  /// sequence.
  Selection(const spec::NsaSelectedAttentionGrad::Problem& problem,
            std::vector<std::int64_t> topk_indices);

  /// The number of keys that every query lists. Entry k = 0, 1, ... of a list is key k mod
  /// selected_block_size of the block at index k div selected_block_size in the list.
  std::int64_t size() const { return block_size_ * block_count_; }
  /// The position in sequence b of the key at entry k of query i's list. A block that is listed
  /// twice has two entries for each of its keys.
  std::int64_t key(std::int64_t b, std::int64_t kv, std::int64_t i, std::int64_t k) const;
  /// Returns how often query i lists key j.
  std::int64_t multiplicity(std::int64_t b, std::int64_t kv, std::int64_t i, std::int64_t j) const;
  bool sees(std::int64_t i, std::int64_t j) const { return !causal_ || j <= i; }

 private:
  std::int64_t block(std::int64_t b, std::int64_t kv, std::int64_t i, std::int64_t slot) const;

  std::int64_t block_size_, block_count_;
  bool causal_;
  spec::Extents lists_;
  std::vector<std::int64_t> topk_indices_;
};

/// The inputs of the forward operator and of its gradient; operands are stored as Stored.
template <class Real, class Stored = Real>
struct SelectedGiven {
  /// Errors: std::invalid_argument as for Selection.
  SelectedGiven(const spec::NsaSelectedAttentionGrad::Problem& problem,
                SelectedOperands<Stored> operands);

  spec::NsaSelectedAttentionGrad::Problem problem;
  SelectedOperands<Stored> operands;
  Selection selection;
  spec::Extents queries, keys;
  Real scale;  ///< factor of the scores
};

/// Softmax statistics and attention output of query rows, in the order of `spec::Extents::row`.
template <class Real>
struct SelectedForward {
  std::vector<Real> softmax_max, softmax_sum, attention_out;
};

/// The forward operator, computed from its definition: the softmax of a query runs over those
/// entries of its list that it sees. A fully masked row has softmax_max -FLT_MAX, softmax_sum
/// FLT_MAX and output 0. Rows are independent: any thread may compute them.
/// Errors: std::invalid_argument as for Selection.
template <class Real, class Stored = Real>
class NsaSelectedAttention {
 public:
  using Problem = spec::NsaSelectedAttentionGrad::Problem;

  /// Reads only query, key, value and the lists.
  NsaSelectedAttention(const Problem& problem, SelectedOperands<Stored> operands)
      : given_(problem, std::move(operands)) {}

  /// Computes query (b, n, i) and appends its statistics and output.
  void append_row(std::int64_t b, std::int64_t n, std::int64_t i,
                  SelectedForward<Real>& rows) const;

 private:
  /// Returns the keys that the query sees, with repetitions as in its list.
  std::vector<std::int64_t> seen_keys(std::int64_t b, std::int64_t kv, std::int64_t i) const;

  SelectedGiven<Real, Stored> given_;
};

/// Computes all query rows.
template <class Real>
SelectedForward<Real> forward(const spec::NsaSelectedAttentionGrad::Problem& problem,
                              const SelectedOperands<Real>& operands);

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
