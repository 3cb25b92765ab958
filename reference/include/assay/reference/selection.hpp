#pragma once

#include <cstdint>
#include <vector>

#include "assay/spec/operators/selection.hpp"

/// Inputs and lists of NsaSelectedAttention and of its gradient.
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

/// Describes which keys each query lists, and which of these keys are unmasked ("the query sees
/// them").
/// Source: aclnnNsaSelectedAttentionGrad.md (formulas, topkIndices, sparseMode).
class Selection {
 public:
  /// In sparse mode 2 with a mask, a query sees only the keys up to its own position. Queries and
  /// keys count from the start of their sequences. The elements of the mask are not read, because
  /// the documents fix them.
  /// Errors: std::invalid_argument for a sparse mode other than 0 and 2, for a number of indices
  /// that differs from the problem's, and for an index of a block that is not wholly inside its
  /// sequence.
  Selection(const spec::SelectionProblem& problem, std::vector<std::int64_t> topk_indices);

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
  SelectedGiven(const spec::SelectionProblem& problem, SelectedOperands<Stored> operands);

  spec::SelectionProblem problem;
  SelectedOperands<Stored> operands;
  Selection selection;
  spec::Extents queries, keys;
  Real scale;  ///< factor of the scores
};

}  // namespace assay::reference
