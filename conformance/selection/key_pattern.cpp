#include "selection/key_pattern.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "assay/spec/at.hpp"

namespace assay::conformance::selection {
namespace {

using spec::at;

}  // namespace

ListPattern::ListPattern(const Problem& p, const spec::Tensor& topk_indices)
    : problem_(p),
      causal_(p.sparse_mode == 2 && p.atten_mask != spec::SelectedMask::absent),
      lists_(topk_extents(p)),
      named_(at(p.batch * p.heads_kv)) {
  const spec::HeadView view(topk_indices, spec::Layout::tnd, lists_);
  std::vector<double> row(at(lists_.dim));
  begin_.push_back(0);
  for (std::int64_t number = 0; number < lists_.rows(); ++number) {
    const auto [b, kv, i] = lists_.position(number);
    const std::int64_t blocks = p.length_kv(b) / p.selected_block_size;
    std::vector<std::int64_t>& named = named_[key_head(b, kv)];
    named.resize(at(blocks));
    view.read_row(b, kv, i, row);
    std::ranges::sort(row);
    for (const double index : row) {
      const auto block = static_cast<std::int64_t>(index);
      if (block < 0 || block >= blocks)
        throw std::invalid_argument("topk_indices: query " + std::to_string(i) + " of sequence " +
                                    std::to_string(b) + ", key head " + std::to_string(kv) +
                                    " lists block " + std::to_string(block) +
                                    "; the sequence has " + std::to_string(blocks));
      ++named[at(block)];
      if (entries_.size() == begin_.back() || entries_.back().block != block)
        entries_.push_back({block, 0});
      most_times_ = std::max(most_times_, ++entries_.back().times);
    }
    begin_.push_back(entries_.size());
  }
}

std::span<const ListPattern::Entry> ListPattern::list(const spec::RowPosition& query) const {
  const std::size_t row = at(lists_.row(query.b, query.n / problem_.group(), query.s));
  return std::span(entries_).subspan(begin_[row], begin_[row + 1] - begin_[row]);
}

std::int64_t ListPattern::times(std::int64_t b, std::int64_t n, std::int64_t i,
                                std::int64_t j) const {
  if (!sees(i, j)) return 0;
  const std::span<const Entry> entries = list({b, n, i});
  const std::int64_t block = j / problem_.selected_block_size;
  const auto entry = std::ranges::lower_bound(entries, block, {}, &Entry::block);
  return entry != entries.end() && entry->block == block ? entry->times : 0;
}

bool ListPattern::count(const spec::RowPosition& query, std::span<const std::int64_t> keys,
                        std::span<std::uint8_t> times) const {
  bool any = false;
  std::int64_t block = -1;
  std::uint8_t named = 0;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    // Neighbouring keys are usually in the same block, so a new search is needed only if the block
    // changes.
    if (keys[k] / problem_.selected_block_size != block) {
      block = keys[k] / problem_.selected_block_size;
      const std::span<const Entry> entries = list(query);
      const auto entry = std::ranges::lower_bound(entries, block, {}, &Entry::block);
      named = entry != entries.end() && entry->block == block
                  ? static_cast<std::uint8_t>(entry->times)
                  : 0;
    }
    times[k] = sees(query.s, keys[k]) ? named : 0;
    any |= times[k] != 0;
  }
  return any;
}

reference::KeyRange ListPattern::range(const spec::RowPosition& query) const {
  const std::span<const Entry> entries = list(query);
  const std::int64_t size = problem_.selected_block_size;
  std::int64_t last = (entries.back().block + 1) * size;
  if (causal_) last = std::min(last, query.s + 1);
  return {entries.front().block * size, last};
}

std::vector<std::int64_t> ListPattern::keys(const spec::RowPosition& query) const {
  std::vector<std::int64_t> all;
  for (const Entry& entry : list(query)) {
    const std::int64_t first = entry.block * problem_.selected_block_size;
    for (std::int64_t j = first; j < first + problem_.selected_block_size; ++j)
      if (sees(query.s, j)) all.push_back(j);
  }
  return all;
}

std::int64_t ListPattern::entries_of_key(const spec::RowPosition& key) const {
  return problem_.group() *
         named_[key_head(key.b, key.n)][at(key.s / problem_.selected_block_size)];
}

}  // namespace assay::conformance::selection
