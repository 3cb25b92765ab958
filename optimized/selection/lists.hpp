#pragma once

#include <cstdint>
#include <string_view>

#include "assay/spec/operators/selection.hpp"
#include "assay/spec/tensor.hpp"

namespace assay::optimized::selected {

/// Returns whether the causal mask applies, which requires sparse mode 2 and a mask.
inline bool has_mask(const spec::SelectionProblem& p) {
  return p.sparse_mode == 2 && p.atten_mask != spec::SelectedMask::absent;
}

/// The block lists (topk_indices): for each query token and key head, the key blocks to which the
/// token attends.
class Lists {
 public:
  /// Keeps references to its arguments. Errors: spec::Rejected if an index is not a block of its
  /// sequence; the message starts with the requirement id `requirement`.
  Lists(const spec::SelectionProblem& problem, const spec::Tensor& topk_indices,
        std::string_view requirement);

  /// Returns the number of entries in each list. The function `block` returns the block in entry
  /// `slot` of a token's list.
  std::int64_t slots() const { return slots_; }
  std::int64_t block(std::int64_t b, std::int64_t kv, std::int64_t token, std::int64_t slot) const;
  /// Returns the number of key blocks in sequence b.
  std::int64_t blocks(std::int64_t b) const { return problem_->length_kv(b) / size_; }
  /// Returns whether all keys of the block are causally masked for the token.
  bool hides(std::int64_t token, std::int64_t block) const {
    return causal_ && block * size_ > token;
  }

 private:
  void refuse_unless_inside(std::string_view requirement) const;

  const spec::SelectionProblem* problem_;
  const spec::Tensor* tensor_;
  spec::HeadIndex index_;
  std::int64_t slots_, size_;
  bool causal_;
};

}  // namespace assay::optimized::selected
