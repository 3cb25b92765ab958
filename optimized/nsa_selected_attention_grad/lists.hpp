#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assay/optimized/nsa_selected_attention_grad/tiling.hpp"

namespace assay::optimized::selected {

/// The blocks that every query token lists for every key head.
class Lists {
 public:
  using Op = spec::NsaSelectedAttentionGrad;

  /// It refers to its arguments. Errors: spec::Rejected for an index that names no block of its
  /// sequence; the message begins with the id of the requirement.
  Lists(const Op::Problem& problem, const spec::Tensor& topk_indices);

  /// Number of list entries, and the block that entry `slot` of a token names.
  std::int64_t slots() const { return slots_; }
  std::int64_t block(std::int64_t b, std::int64_t kv, std::int64_t token, std::int64_t slot) const;
  /// Blocks of a sequence.
  std::int64_t blocks(std::int64_t b) const { return problem_->length_kv(b) / size_; }
  /// Whether a token sees no key of a block.
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

/// A token that lists a block. Numbers fit 32 bits, since a sequence has at most 128K tokens; a
/// head has as many of these as entries of lists.
struct Reader {
  std::int32_t token;
  std::int32_t rank;  ///< of the block among those that the token lists and sees, ascending
};

/// The lists of one key head of one sequence, inverted. A block that a token lists more than once
/// has it as often.
class Readers {
 public:
  /// Cost: O(entries log slots) time. Keeps its memory.
  void invert(const Lists& lists, std::int64_t b, std::int64_t kv, std::int64_t tokens);

  /// Those of a block, tokens ascending.
  std::span<const Reader> of(std::int64_t block) const;
  /// Entries of a token's list, without those of which it sees nothing.
  std::int64_t seen(std::int64_t token) const { return seen_[static_cast<std::size_t>(token)]; }

 private:
  void collect(const Lists& lists, std::int64_t b, std::int64_t kv, std::int64_t tokens);

  std::vector<Reader> readers_;
  std::vector<std::int64_t> starts_;  ///< of every block in readers_, and their end
  std::vector<std::int32_t> seen_;
  std::vector<std::int64_t> sorted_;  ///< the seen entries of all tokens, each token's ascending
};

}  // namespace assay::optimized::selected
