#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "selection/lists.hpp"

namespace assay::optimized::selected {

/// An entry of an inverted list: a token that lists the block. Both members fit in 32 bits, because
/// a sequence has at most 128K tokens. Each entry of a token's list gives one object of this type.
struct Reader {
  std::int32_t token;
  std::int32_t rank;  ///< rank of the block among the visible blocks of the token, ascending
};

/// The inverted lists for one key head of one sequence: for each block, the tokens that list it. If
/// a token lists a block n times, the inverted list of this block contains the token n times.
class Readers {
 public:
  /// Inverts the lists: computes for each block the tokens that list it. Takes O(entries log slots)
  /// time. Reuses the memory of earlier calls.
  void invert(const Lists& lists, std::int64_t b, std::int64_t kv, std::int64_t tokens);

  /// Returns the tokens that list a block, in ascending order.
  std::span<const Reader> of(std::int64_t block) const;
  /// Returns the number of entries in a token's list. Fully masked blocks do not count.
  std::int64_t seen(std::int64_t token) const { return seen_[static_cast<std::size_t>(token)]; }

 private:
  void collect(const Lists& lists, std::int64_t b, std::int64_t kv, std::int64_t tokens);

  std::vector<Reader> readers_;
  std::vector<std::int64_t> starts_;  ///< of every block in readers_, and the end
  std::vector<std::int32_t> seen_;
  std::vector<std::int64_t> sorted_;  ///< visible entries of all tokens, ascending per token
};

}  // namespace assay::optimized::selected
