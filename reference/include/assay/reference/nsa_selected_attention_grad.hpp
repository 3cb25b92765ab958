#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "assay/reference/real.hpp"
#include "assay/spec/operators/nsa_selected_attention_grad.hpp"

namespace assay::reference {

/// Dense operands in arithmetic of type Real, whose rows lie in the order of `spec::Extents::row`;
/// the statistics and attention_out as Real, so that an exact forward can be differentiated.
template <class Real>
struct SelectedOperands {
  std::vector<Real> query, key, value, attention_out_grad;
  std::vector<Real> softmax_max, softmax_sum;  ///< one of every query row
  std::vector<Real> attention_out;
  std::vector<std::int64_t> topk_indices;  ///< selected_block_count of every query and key head
  friend bool operator==(const SelectedOperands&, const SelectedOperands&) = default;
};

/// The operator's own tensors, densely and exactly; of the statistics replica 0.
/// Errors: std::invalid_argument for a tensor whose shape is not that of the problem.
template <class Real>
SelectedOperands<Real> operands_of(const spec::NsaSelectedAttentionGrad::Problem& problem,
                                   const spec::NsaSelectedAttentionGrad::Inputs& inputs);

/// The keys that queries list, and which of them they see.
/// Source: aclnnNsaSelectedAttentionGrad.md (formulas, topkIndices, sparseMode).
class Selection {
 public:
  /// The mask takes part in sparse mode 2 if it is passed: a query then sees the keys up to its own
  /// position, both counted from the start of their sequences. Its elements are not read: it is
  /// canonical by contract.
  /// Errors: std::invalid_argument for another sparse mode than 0 and 2, a number of indices that
  ///         is not the problem's, and an index that names no whole block of its sequence.
  Selection(const spec::NsaSelectedAttentionGrad::Problem& problem,
            std::vector<std::int64_t> topk_indices);

  /// Number of listed keys of every query: entry k = 0 ... is key k mod selected_block_size of
  /// block k div it in the list.
  std::int64_t size() const { return block_size_ * block_count_; }
  /// Position in sequence b of entry k of query i; a block that is listed twice has two entries for
  /// each key.
  std::int64_t key(std::int64_t b, std::int64_t kv, std::int64_t i, std::int64_t k) const;
  /// How often query i lists key j.
  std::int64_t multiplicity(std::int64_t b, std::int64_t kv, std::int64_t i, std::int64_t j) const;
  bool sees(std::int64_t i, std::int64_t j) const { return !causal_ || j <= i; }

 private:
  std::int64_t block(std::int64_t b, std::int64_t kv, std::int64_t i, std::int64_t slot) const;

  std::int64_t block_size_, block_count_;
  bool causal_;
  spec::Extents lists_;
  std::vector<std::int64_t> topk_indices_;
};

/// What the forward and its gradient are computed from; operands are kept as Stored.
template <class Real, class Stored = Real>
struct SelectedGiven {
  /// Errors: std::invalid_argument where Selection says so.
  SelectedGiven(const spec::NsaSelectedAttentionGrad::Problem& problem,
                SelectedOperands<Stored> operands);

  spec::NsaSelectedAttentionGrad::Problem problem;
  SelectedOperands<Stored> operands;
  Selection selection;
  spec::Extents queries, keys;
  Real scale;  ///< of the scores
};

/// Softmax statistics and attention output of query rows, in the order of `spec::Extents::row`.
template <class Real>
struct SelectedForward {
  std::vector<Real> softmax_max, softmax_sum, attention_out;
};

/// The forward from the definition: the softmax of a query runs over the entries of its list that
/// it sees. A row that sees none has softmax_max -FLT_MAX, softmax_sum FLT_MAX and output 0. Rows
/// are independent: call them from any thread.
/// Errors: std::invalid_argument where Selection says so.
template <class Real>
class NsaSelectedAttention {
 public:
  using Problem = spec::NsaSelectedAttentionGrad::Problem;

  /// Of the operands it reads query, key, value and the lists.
  NsaSelectedAttention(const Problem& problem, SelectedOperands<Real> operands)
      : given_(problem, std::move(operands)) {}

  /// Appends statistics and output of query (b, n, i).
  void append_row(std::int64_t b, std::int64_t n, std::int64_t i,
                  SelectedForward<Real>& rows) const;

 private:
  /// As often as they are listed.
  std::vector<std::int64_t> seen_keys(std::int64_t b, std::int64_t kv, std::int64_t i) const;

  SelectedGiven<Real> given_;
};

/// That of every query row.
template <class Real>
SelectedForward<Real> forward(const spec::NsaSelectedAttentionGrad::Problem& problem,
                              const SelectedOperands<Real>& operands);

/// Quantities of query (b, n, i) and key j, for one entry of the list: the score, the probability
/// and the gradients of both. Where the query does not see the key, prob and dscore are 0.
template <class Real>
struct SelectedPair {
  Real score, prob, dprob, dscore;
};

/// Gradient of one key: rows of dk and dv.
template <class Real>
struct SelectedKeyRow {
  std::vector<Real> dk, dv;
};

/// Gradient of block-selected attention, computed from the definition in arithmetic of type Real
/// (double, DoubleDouble, Quad, Fifty, SeventyFive). Operands are kept as Stored: the operator's
/// own tensors are exact as float, and converted where they are used.
///
/// With k running over the entries of a query's list, K and V the keys and values that they name,
/// and S = scale_value * query K^T, P = exp(S - softmax_max) / softmax_sum where the query sees the
/// key, else 0,
///
///     dS = P * (attention_out_grad V^T - rowsum(attention_out_grad * attention_out))
///     dq = scale_value * dS K     dk = scale_value * dS^T query     dv = P^T attention_out_grad
///
/// where dk and dv of a key add up over all queries of its sequence, all heads of its group and all
/// entries that name it.
///
/// Shapes: query head n reads key head n / (heads_q / heads_kv) and its lists. Queries and keys
///         meet within their sequence.
/// Units:  softmax_max is a score; exponentials are natural; scale_value is rounded to fp32 before
///         use.
/// Cost:   of every entry an exponential; a dq row size() * (2 head_dim + head_dim_v)
///         multiplications, a dk and dv row 2 (head_dim + head_dim_v) for each query that lists it.
///         Rows are independent: call them from any thread.
/// Errors: a non-finite input is no error: it spreads as IEEE 754 says, but an unseen score is
///         replaced, not multiplied.
/// Source: aclnnNsaSelectedAttentionGrad.md (formulas).
template <class Real, class Stored = Real>
class NsaSelectedAttentionGrad {
 public:
  using Problem = spec::NsaSelectedAttentionGrad::Problem;
  using Inputs = spec::NsaSelectedAttentionGrad::Inputs;

  /// Errors: std::invalid_argument where Selection says so.
  NsaSelectedAttentionGrad(const Problem& problem, SelectedOperands<Stored> operands)
      : given_(problem, std::move(operands)) {}
  /// The operator's own tensors, exact. Errors: std::invalid_argument for a tensor of another
  /// shape.
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
  /// All that the formulas take from query (b, n, i); row_term is the dot product of
  /// attention_out_grad and attention_out.
  struct QuerySide {
    RowOf<Real> query, attention_out_grad;
    Real softmax_max, softmax_sum, row_term;
  };
  /// All that they take from key (b, kv, j).
  struct KeySide {
    RowOf<Real> key, value;
  };

  QuerySide query_side(std::int64_t b, std::int64_t n, std::int64_t i) const;
  KeySide key_side(std::int64_t b, std::int64_t kv, std::int64_t j) const;
  SelectedPair<Real> seen_pair(const QuerySide& query, const KeySide& key) const;

  SelectedGiven<Real, Stored> given_;
};

}  // namespace assay::reference
