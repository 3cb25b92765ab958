#pragma once

#include <cstdint>
#include <vector>

#include "assay/spec/operators/sparse_flash_attention_grad.hpp"
#include "assay/spec/tensor.hpp"

namespace assay::optimized::sparse_flash {

/// The number of keys that query `token` of sequence `b` may see: the first keys of its sequence.
std::int64_t visible_keys(const spec::SparseFlashProblem& problem, std::int64_t b,
                          std::int64_t token);

/// The keys that the list of each query token names.
class KeyLists {
 public:
  /// Keeps references to its arguments. Errors: spec::Rejected (SFAG-C32) if an entry that counts
  /// is not a block with a visible key; a negative entry ends a list.
  KeyLists(const spec::SparseFlashProblem& problem, const spec::Tensor& sparse_indices);

  /// Sets `keys` to the visible keys of the listed blocks, ascending; positions are relative to the
  /// sequence. A block that is listed several times has its keys several times.
  void read(std::int64_t b, std::int64_t token, std::vector<std::int64_t>& keys) const;

 private:
  const spec::SparseFlashProblem* problem_;
  const spec::Tensor* tensor_;
  spec::HeadIndex index_;
};

}  // namespace assay::optimized::sparse_flash
