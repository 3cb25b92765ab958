#pragma once

#include <cstdint>
#include <vector>

#include "assay/spec/operators/selection.hpp"

/// Inputs of NsaSelectedAttention and its gradient, and the lists of selected keys.
namespace assay::reference {

/// The input tensors as dense arrays in arithmetic of type Real, with rows in the order of
/// `spec::Extents::row`. The statistics and attention_out are stored as Real, so that the gradient
/// can use unrounded results of a forward pass.
template <class Real>
struct SelectedOperands {
  std::vector<Real> query, key, value, attention_out_grad;
  std::vector<Real> softmax_max, softmax_sum;  ///< one per query row
  std::vector<Real> attention_out;
  std::vector<std::int64_t> topk_indices;  ///< selected_block_count per query and key head
  friend bool operator==(const SelectedOperands&, const SelectedOperands&) = default;
};

/// Describes which keys each query lists, and which of the listed keys are unmasked (the function
/// `sees`).
/// Source: aclnnNsaSelectedAttentionGrad.md (formulas, topkIndices, sparseMode).
class Selection {
 public:
  /// In sparse mode 2 with a mask, only the keys up to the query's own position are unmasked.
  /// Queries and keys count from the start of their sequences. The class does not read the mask's
  /// elements, because the documentation fixes them.
  /// Errors: std::invalid_argument for a sparse mode other than 0 and 2, for a wrong number of
  /// indices, and for the index of a block that is not completely inside its sequence.
  Selection(const spec::SelectionProblem& problem, std::vector<std::int64_t> topk_indices);

  /// Returns the number of keys in every query's list. Entry k = 0, 1, ... is key k mod
  /// selected_block_size of the listed block number k div selected_block_size.
  std::int64_t size() const { return block_size_ * block_count_; }
  /// Returns the position in sequence b of entry k of query i's list of keys. A block that is
  /// listed twice has two entries for each of its keys.
  std::int64_t key(std::int64_t b, std::int64_t kv, std::int64_t i, std::int64_t k) const;
  /// Returns the number of entries for key j in query i's list of selected keys.
  std::int64_t multiplicity(std::int64_t b, std::int64_t kv, std::int64_t i, std::int64_t j) const;
  bool sees(std::int64_t i, std::int64_t j) const { return !causal_ || j <= i; }

 private:
  std::int64_t block(std::int64_t b, std::int64_t kv, std::int64_t i, std::int64_t slot) const;

  std::int64_t block_size_, block_count_;
  bool causal_;
  spec::Extents lists_;
  std::vector<std::int64_t> topk_indices_;
};

/// The inputs of NsaSelectedAttention and of its gradient. Operands are stored in type Stored.
template <class Real, class Stored = Real>
struct SelectedGiven {
  /// Errors: std::invalid_argument as in the constructor of Selection.
  SelectedGiven(const spec::SelectionProblem& problem, SelectedOperands<Stored> operands);

  spec::SelectionProblem problem;
  SelectedOperands<Stored> operands;
  Selection selection;
  spec::Extents queries, keys;
  Real scale;  ///< factor of the scores
};

}  // namespace assay::reference
