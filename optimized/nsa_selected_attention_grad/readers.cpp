#include "nsa_selected_attention_grad/readers.hpp"

#include <algorithm>

namespace assay::optimized::selected {

/// Collects, for every token, the sorted list of blocks that are not fully masked. Counts how often
/// each block is listed.
void Readers::collect(const Lists& lists, std::int64_t b, std::int64_t kv, std::int64_t tokens) {
  sorted_.clear();
  seen_.assign(static_cast<std::size_t>(tokens), 0);
  starts_.assign(static_cast<std::size_t>(lists.blocks(b)) + 1, 0);
  for (std::int64_t token = 0; token < tokens; ++token) {
    const std::size_t first = sorted_.size();
    for (std::int64_t slot = 0; slot < lists.slots(); ++slot) {
      const std::int64_t block = lists.block(b, kv, token, slot);
      if (lists.hides(token, block)) continue;
      sorted_.push_back(block);
      ++starts_[static_cast<std::size_t>(block) + 1];
    }
    std::sort(sorted_.begin() + static_cast<std::ptrdiff_t>(first), sorted_.end());
    seen_[static_cast<std::size_t>(token)] = static_cast<std::int32_t>(sorted_.size() - first);
  }
}

void Readers::invert(const Lists& lists, std::int64_t b, std::int64_t kv, std::int64_t tokens) {
  collect(lists, b, kv, tokens);
  for (std::size_t block = 1; block < starts_.size(); ++block) starts_[block] += starts_[block - 1];
  readers_.resize(sorted_.size());
  // While the inverted list of a block is filled, the start index of the list grows. At the end,
  // this index is the start of the next block's list.
  auto entry = sorted_.begin();
  for (std::int32_t token = 0; token < tokens; ++token)
    for (std::int32_t rank = 0; rank < seen(token); ++rank, ++entry)
      readers_[static_cast<std::size_t>(starts_[static_cast<std::size_t>(*entry)]++)] = {token,
                                                                                         rank};
  starts_.insert(starts_.begin(), 0);
  starts_.pop_back();
}

std::span<const Reader> Readers::of(std::int64_t block) const {
  const auto at = static_cast<std::size_t>(block);
  return std::span(readers_).subspan(static_cast<std::size_t>(starts_[at]),
                                     static_cast<std::size_t>(starts_[at + 1] - starts_[at]));
}

}  // namespace assay::optimized::selected
