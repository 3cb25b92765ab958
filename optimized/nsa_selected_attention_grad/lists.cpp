#include "nsa_selected_attention_grad/lists.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "assay/spec/status.hpp"

namespace assay::optimized::selected {

Lists::Lists(const Op::Problem& problem, const spec::Tensor& topk_indices)
    : problem_(&problem),
      tensor_(&topk_indices),
      index_(topk_indices, spec::Layout::tnd, topk_extents(problem)),
      slots_(problem.selected_block_count),
      size_(problem.selected_block_size),
      causal_(is_causal(problem)) {
  refuse_unless_inside();
}

std::int64_t Lists::block(std::int64_t b, std::int64_t kv, std::int64_t token,
                          std::int64_t slot) const {
  std::int32_t block;
  std::memcpy(&block, tensor_->bytes.data() + index_(b, kv, token, slot) * 4, sizeof block);
  return block;
}

/// Rejects block indices outside the sequence. The documentation does not define such indices, and
/// the kernel would access the memory of other rows.
void Lists::refuse_unless_inside() const {
  const spec::Extents& extents = index_.extents();
  for (std::int64_t b = 0; b < extents.batch; ++b)
    for (std::int64_t kv = 0; kv < extents.heads; ++kv)
      for (std::int64_t token = 0; token < extents.length(b); ++token)
        for (std::int64_t slot = 0; slot < slots_; ++slot) {
          const std::int64_t index = block(b, kv, token, slot);
          if (0 <= index && index < blocks(b)) continue;
          throw spec::Rejected(spec::Status::param_invalid,
                               "NSAS-C38: entry " + std::to_string(slot) +
                                   " of topk_indices of token " + std::to_string(token) +
                                   " of sequence " + std::to_string(b) + ", key head " +
                                   std::to_string(kv) + " is " + std::to_string(index) +
                                   "; it must be 0 to " + std::to_string(blocks(b) - 1));
        }
}

/// Collects, for every token, the sorted list of visible blocks, and counts how often each block is
/// listed.
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
  // While the list of a block is filled, its start index grows. At the end it is the start index of
  // the next block.
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
