#include "assay/reference/selection.hpp"

#include <stdexcept>
#include <string>
#include <utility>

namespace assay::reference {
namespace {

using Problem = spec::SelectionProblem;

void check_mode(const Problem& p) {
  if (p.sparse_mode != 0 && p.sparse_mode != 2)
    throw std::invalid_argument("selection: sparse mode " + std::to_string(p.sparse_mode) +
                                " is not supported: accepted are 0 and 2");
}

void check_block(const Problem& p, const spec::RowPosition& list, std::int64_t slot,
                 std::int64_t block) {
  const std::int64_t blocks = p.length_kv(list.b) / p.selected_block_size;
  if (block >= 0 && block < blocks) return;
  const auto text = [](std::int64_t number) { return std::to_string(number); };
  throw std::invalid_argument("selection: entry " + text(slot) + " of the list of query " +
                              text(list.s) + " of sequence " + text(list.b) + ", key head " +
                              text(list.n) + " is block " + text(block) + "; the sequence has " +
                              text(blocks));
}

}  // namespace

Selection::Selection(const Problem& p, std::vector<std::int64_t> topk_indices)
    : block_size_(p.selected_block_size),
      block_count_(p.selected_block_count),
      causal_(p.sparse_mode == 2 && p.atten_mask != spec::SelectedMask::absent),
      lists_(topk_extents(p)),
      topk_indices_(std::move(topk_indices)) {
  check_mode(p);
  if (static_cast<std::int64_t>(topk_indices_.size()) != lists_.rows() * lists_.dim)
    throw std::invalid_argument("selection: " + std::to_string(topk_indices_.size()) +
                                " indices, the problem has " +
                                std::to_string(lists_.rows() * lists_.dim));
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t kv = 0; kv < p.heads_kv; ++kv)
      for (std::int64_t i = 0; i < p.length_q(b); ++i)
        for (std::int64_t slot = 0; slot < block_count_; ++slot)
          check_block(p, {b, kv, i}, slot, block(b, kv, i, slot));
}

std::int64_t Selection::block(std::int64_t b, std::int64_t kv, std::int64_t i,
                              std::int64_t slot) const {
  return topk_indices_[static_cast<std::size_t>(lists_.row(b, kv, i) * block_count_ + slot)];
}

std::int64_t Selection::key(std::int64_t b, std::int64_t kv, std::int64_t i, std::int64_t k) const {
  return block(b, kv, i, k / block_size_) * block_size_ + k % block_size_;
}

std::int64_t Selection::multiplicity(std::int64_t b, std::int64_t kv, std::int64_t i,
                                     std::int64_t j) const {
  std::int64_t count = 0;
  for (std::int64_t slot = 0; slot < block_count_; ++slot)
    if (block(b, kv, i, slot) == j / block_size_) ++count;
  return count;
}

}  // namespace assay::reference
