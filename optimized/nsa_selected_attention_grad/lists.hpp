#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assay/optimized/nsa_selected_attention_grad/tiling.hpp"

namespace assay::optimized::selected {

/// The blocks that each query token lists for each key head (topk_indices).
class Lists {
 public:
  using Op = spec::NsaSelectedAttentionGrad;

  /// Keeps references to its arguments. Errors: spec::Rejected if an index is not a block of its
  /// sequence; the message starts with the id of the requirement.
  Lists(const Op::Problem& problem, const spec::Tensor& topk_indices);

  /// The number of entries in each list. `block` returns the block in entry `slot` of a token's
  /// list.
  std::int64_t slots() const { return slots_; }
  std::int64_t block(std::int64_t b, std::int64_t kv, std::int64_t token, std::int64_t slot) const;
  /// The number of key blocks in a sequence.
  std::int64_t blocks(std::int64_t b) const { return problem_->length_kv(b) / size_; }
  /// Returns whether all keys of the block are causally masked for the token.
  bool hides(std::int64_t token, std::int64_t block) const {
    return causal_ && block * size_ > token;
  }

 private:
  void refuse_unless_inside() const;

  const Op::Problem* problem_;
  const spec::Tensor* tensor_;
  spec::HeadIndex index_;
  std::int64_t slots_, size_;
  bool causal_;
};

/// A token that lists a block. Both numbers fit in 32 bits, because a sequence has at most 128K
/// tokens. A head has as many Readers as list entries.
struct Reader {
  std::int32_t token;
  std::int32_t rank;  ///< rank of the block among the visible blocks of the token, ascending
};

/// The inverted lists for one key head of one sequence. If a token lists a block n times, the
/// inverted list of this block contains the token n times.
class Readers {
 public:
  /// Inverts the lists. Cost: O(entries log slots) time. Reuses the memory of earlier calls.
  void invert(const Lists& lists, std::int64_t b, std::int64_t kv, std::int64_t tokens);

  /// Returns the readers of a block, in ascending order of tokens.
  std::span<const Reader> of(std::int64_t block) const;
  /// The number of entries in a token's list. Fully masked blocks are not counted.
  std::int64_t seen(std::int64_t token) const { return seen_[static_cast<std::size_t>(token)]; }

 private:
  void collect(const Lists& lists, std::int64_t b, std::int64_t kv, std::int64_t tokens);

  std::vector<Reader> readers_;
  std::vector<std::int64_t> starts_;  ///< of every block in readers_, and the end
  std::vector<std::int32_t> seen_;
  std::vector<std::int64_t> sorted_;  ///< visible entries of all tokens, ascending per token
};

}  // namespace assay::optimized::selected
