#pragma once

#include <cstdint>
#include <vector>

#include "assay/reference/real.hpp"
#include "assay/spec/operators/sparse_flash_attention_grad.hpp"

namespace assay::reference {

/// The input tensors as dense arrays in arithmetic of type Real, with rows in the order of
/// `spec::Extents::row`. Without rope, the rope arrays are empty. Without a value tensor, `value`
/// has the rows of key.
template <class Real>
struct SparseFlashOperands {
  std::vector<Real> query, key, value, d_out, out, query_rope, key_rope;
  std::vector<Real> softmax_max, softmax_sum;  ///< one per query row
  std::vector<std::int64_t> sparse_indices;    ///< sparse_block_count per token
  friend bool operator==(const SparseFlashOperands&, const SparseFlashOperands&) = default;
};

/// Converts the tensors of a call to dense arrays, without rounding.
/// Errors: std::invalid_argument if a tensor is missing or its shape does not match `problem`.
template <class Real>
SparseFlashOperands<Real> operands_of(const spec::SparseFlashAttentionGrad::Problem& problem,
                                      const spec::SparseFlashAttentionGrad::Inputs& inputs);

/// Returns the attended keys of query s in sequence b, as positions in the sequence, in the order
/// of the query's list. The first V keys of the sequence are visible to the query: V is the length
/// S2 in mode 0 and S2 - S1 + s + 1 in mode 3. A list entry v names the block of keys that starts
/// at v * sparse_block_size. The list ends at its first negative entry, or after as many entries as
/// there are blocks with a visible key. Errors: std::invalid_argument if an entry before that end
/// names no block with a visible key. Source: aclnnSparseFlashAttentionGrad.md (sparseIndices,
/// sparseMode), SFAG-Q1 to SFAG-Q4.
template <class Real>
std::vector<std::int64_t> attended_keys(const spec::SparseFlashAttentionGrad::Problem& problem,
                                        const SparseFlashOperands<Real>& operands, std::int64_t b,
                                        std::int64_t s);

/// The forward results of one query row. If the row attends to no key, all results are 0.
template <class Real>
struct SparseFlashForward {
  Real softmax_max, softmax_sum;
  std::vector<Real> out;
};
template <class Real>
SparseFlashForward<Real> forward_row(const spec::SparseFlashAttentionGrad::Problem& problem,
                                     const SparseFlashOperands<Real>& operands, std::int64_t b,
                                     std::int64_t n, std::int64_t s);

/// One row of the gradients of query and queryRope.
template <class Real>
struct SparseFlashQueryRow {
  std::vector<Real> d_query, d_query_rope;
};
/// If the value tensor is absent, d_key is the sum of the gradients of key and value, and d_value
/// is empty.
template <class Real>
struct SparseFlashKeyRow {
  std::vector<Real> d_key, d_key_rope, d_value;
};

/// The gradient of sparse attention, computed from its definition in arithmetic of type Real.
/// Operands are stored in type Stored: float represents the elements of a call's tensors exactly.
///
/// Let K, V and Kr be the attended keys' rows of key, value and key rope. P = exp(S - softmax_max)
/// / softmax_sum, where S = scale_value * (query K^T + query_rope Kr^T). Then
///
///     dS = P * (d_out V^T - rowsum(d_out * out))
///     d_query = scale_value * dS K      d_query_rope = scale_value * dS Kr
///     d_key = scale_value * dS^T query  d_key_rope = scale_value * dS^T query_rope
///     d_value = P^T d_out
///
/// The gradients of a key are sums over all queries of its sequence and over all query heads.
///
/// Units:  softmax_max is a score; exponentials are natural; scale_value is rounded to fp32.
/// Cost:   1,700 multiplications for each attended pair of a query row and a key row. Rows are
///         independent: any thread may compute them.
/// Errors: std::invalid_argument as for attended_keys. NaN and infinity in the inputs propagate as
///         in IEEE 754.
/// Source: aclnnSparseFlashAttentionGrad.md (formulas), SFAG-Q5 and SFAG-Q7.
template <class Real, class Stored = Real>
class SparseFlashAttentionGrad {
 public:
  using Problem = spec::SparseFlashAttentionGrad::Problem;

  SparseFlashAttentionGrad(const Problem& problem, SparseFlashOperands<Stored> operands);

  SparseFlashQueryRow<Real> query_row(std::int64_t b, std::int64_t n, std::int64_t s) const;
  SparseFlashKeyRow<Real> key_row(std::int64_t b, std::int64_t j) const;

 private:
  struct Pair {
    Real prob, dscore;
  };
  Pair pair(std::int64_t query, std::int64_t key) const;

  Problem problem_;
  SparseFlashOperands<Stored> operands_;
  spec::Extents queries_, keys_;
  Real scale_;
  std::vector<std::vector<std::int64_t>> attended_;  ///< by token: keys in the order of the list
};

}  // namespace assay::reference
