#pragma once

#include <cstdint>
#include <vector>

#include "assay/spec/operators/sparse_flash_attention_grad.hpp"
#include "assay/spec/tensor.hpp"

namespace assay::optimized::sparse_flash {

/// Returns the number of keys that query `token` of sequence `b` may see, counted from the start of
/// its sequence.
std::int64_t visible_keys(const spec::SparseFlashProblem& problem, std::int64_t b,
                          std::int64_t token);

/// Reads the block list of each query token and returns its keys.
class KeyLists {
 public:
  /// Keeps references to its arguments. A negative entry ends a list. Errors: spec::Rejected
  /// (requirement SFAG-C32) if an earlier entry is not a block with a visible key.
  KeyLists(const spec::SparseFlashProblem& problem, const spec::Tensor& sparse_indices);

  /// Writes the visible keys of the listed blocks to `keys`, in ascending order, as positions in
  /// the sequence. If a block is listed several times, its keys occur several times.
  void read(std::int64_t b, std::int64_t token, std::vector<std::int64_t>& keys) const;

 private:
  const spec::SparseFlashProblem* problem_;
  const spec::Tensor* tensor_;
  spec::HeadIndex index_;
};

}  // namespace assay::optimized::sparse_flash
