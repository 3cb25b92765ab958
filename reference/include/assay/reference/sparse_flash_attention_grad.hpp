#pragma once

#include <cstdint>
#include <vector>

#include "assay/reference/real.hpp"
#include "assay/spec/operators/sparse_flash_attention_grad.hpp"

namespace assay::reference {

/// Dense operands in arithmetic of type Real, with rows in the order of `spec::Extents::row`. The
/// rope operands are empty without rope. Without a value tensor, `value` has the rows of key.
template <class Real>
struct SparseFlashOperands {
  std::vector<Real> query, key, value, d_out, out, query_rope, key_rope;
  std::vector<Real> softmax_max, softmax_sum;  ///< one per query row
  std::vector<std::int64_t> sparse_indices;    ///< sparse_block_count per token
  friend bool operator==(const SparseFlashOperands&, const SparseFlashOperands&) = default;
};

/// Converts the operator's own tensors to dense operands, without rounding.
/// Errors: std::invalid_argument for a tensor whose shape is not that of the problem, or that is
/// missing.
template <class Real>
SparseFlashOperands<Real> operands_of(const spec::SparseFlashAttentionGrad::Problem& problem,
                                      const spec::SparseFlashAttentionGrad::Inputs& inputs);

/// The attended keys of the query at position s of sequence b: positions in its own sequence, in
/// the order of the list. A query may see the first V keys of its sequence, where V is the length
/// S2 in mode 0 and S2 - S1 + s + 1 in mode 3. Entry v names keys v * sparse_block_size and the
/// following ones. A list ends at its first negative entry. At most as many entries are used as
/// there are blocks with a visible key. Errors: std::invalid_argument for an entry that counts and
/// names no block with a visible key. Source: aclnnSparseFlashAttentionGrad.md (sparseIndices,
/// sparseMode), SFAG-Q1 to SFAG-Q4.
template <class Real>
std::vector<std::int64_t> attended_keys(const spec::SparseFlashAttentionGrad::Problem& problem,
                                        const SparseFlashOperands<Real>& operands, std::int64_t b,
                                        std::int64_t s);

/// The results of the forward for one query row. For a row that attends to no key all are 0.
template <class Real>
struct SparseFlashForward {
  Real softmax_max, softmax_sum;
  std::vector<Real> out;
};
template <class Real>
SparseFlashForward<Real> forward_row(const spec::SparseFlashAttentionGrad::Problem& problem,
                                     const SparseFlashOperands<Real>& operands, std::int64_t b,
                                     std::int64_t n, std::int64_t s);

/// A row of the gradients of query and queryRope.
template <class Real>
struct SparseFlashQueryRow {
  std::vector<Real> d_query, d_query_rope;
};
/// With a null value, d_key is the sum of the gradients of key and value, and d_value is empty.
template <class Real>
struct SparseFlashKeyRow {
  std::vector<Real> d_key, d_key_rope, d_value;
};

/// The gradient of sparse attention, computed from the definition in arithmetic of type Real.
/// Operands are stored as Stored: the operator's own tensors are exact as float.
///
/// Let K, V and Kr be the rows of the attended keys. P = exp(S - softmax_max) / softmax_sum, where
/// S = scale_value * (query K^T + query_rope Kr^T). Then
///
///     dS = P * (d_out V^T - rowsum(d_out * out))
///     d_query = scale_value * dS K      d_query_rope = scale_value * dS Kr
///     d_key = scale_value * dS^T query  d_key_rope = scale_value * dS^T query_rope
///     d_value = P^T d_out
///
/// Sums for a key run over all tokens of its sequence and over all query heads.
///
/// Units:  softmax_max is a score; exponentials are natural; scale_value is rounded to fp32.
/// Cost:   for a query row 1,700 multiplications for each attended key, for a key row for each
///         query row that attends to it. Rows are independent: any thread may compute them.
/// Errors: std::invalid_argument as for attended_keys. Non-finite inputs spread as IEEE 754 says.
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
