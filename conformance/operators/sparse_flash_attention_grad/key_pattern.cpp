#include "operators/sparse_flash_attention_grad/key_pattern.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "assay/spec/at.hpp"

namespace assay::conformance::sparse_flash {
namespace {

using spec::at;

[[noreturn]] void refuse_list(std::int64_t b, std::int64_t i, const std::string& fault) {
  throw std::invalid_argument("sparse_indices: the list of query " + std::to_string(i) +
                              " of sequence " + std::to_string(b) + " " + fault + " (SFAG-C32)");
}

}  // namespace

ListPattern::ListPattern(const Problem& p, const spec::Tensor& sparse_indices)
    : problem_(p), tokens_(sparse_indices_extents(p)), named_(at(p.batch)) {
  const spec::HeadView view(sparse_indices, p.layout, tokens_);
  std::vector<double> row(at(p.sparse_block_count));
  for (std::int64_t b = 0; b < p.batch; ++b) {
    named_[at(b)].resize(at((p.length_kv(b) + p.sparse_block_size - 1) / p.sparse_block_size));
    for (std::int64_t i = 0; i < p.length_q(b); ++i) {
      const Seen seen = seen_by(p, b, i);
      view.read_row(b, 0, i, row);
      std::vector<std::int64_t> blocks(row.begin(), row.begin() + seen.used);
      const bool is_cut = seen.keys % p.sparse_block_size != 0;
      for (std::int64_t slot = 0; slot < seen.used; ++slot) {
        const std::int64_t block = blocks[at(slot)];
        if (block < 0 || block >= seen.blocks)
          refuse_list(b, i,
                      "has block " + std::to_string(block) + ", but the query sees " +
                          std::to_string(seen.blocks) + " blocks");
        if (is_cut && block == seen.blocks - 1 && slot != seen.used - 1)
          refuse_list(b, i, "lists the incomplete last block before another block");
        ++named_[at(b)][at(block)];
      }
      std::ranges::sort(blocks);
      if (std::ranges::adjacent_find(blocks) != blocks.end()) refuse_list(b, i, "repeats a block");
      lists_.push_back(std::move(blocks));
    }
  }
}

std::int64_t ListPattern::times(std::int64_t b, std::int64_t, std::int64_t i,
                                std::int64_t j) const {
  return j < seen_by(problem_, b, i).keys &&
                 std::ranges::binary_search(list(b, i), j / problem_.sparse_block_size)
             ? 1
             : 0;
}

bool ListPattern::count(const spec::RowPosition& query, std::span<const std::int64_t> keys,
                        std::span<std::uint8_t> times_of) const {
  bool any = false;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    times_of[k] = static_cast<std::uint8_t>(times(query.b, query.n, query.s, keys[k]));
    any |= times_of[k] != 0;
  }
  return any;
}

reference::KeyRange ListPattern::range(const spec::RowPosition& query) const {
  const std::vector<std::int64_t>& blocks = list(query.b, query.s);
  if (blocks.empty()) return {0, 0};
  const std::int64_t size = problem_.sparse_block_size;
  return {blocks.front() * size,
          std::min((blocks.back() + 1) * size, seen_by(problem_, query.b, query.s).keys)};
}

std::vector<std::int64_t> ListPattern::keys(const spec::RowPosition& query) const {
  const std::int64_t size = problem_.sparse_block_size,
                     last = seen_by(problem_, query.b, query.s).keys;
  std::vector<std::int64_t> all;
  for (const std::int64_t block : list(query.b, query.s))
    for (std::int64_t j = block * size; j < std::min((block + 1) * size, last); ++j)
      all.push_back(j);
  return all;
}

std::int64_t ListPattern::entries_of_query(std::int64_t b) const {
  const std::int64_t listed = problem_.sparse_block_size * problem_.sparse_block_count;
  return std::min(problem_.length_kv(b) + problem_.sparse_block_size, listed);
}

std::int64_t ListPattern::entries_of_key(const spec::RowPosition& key) const {
  return problem_.heads_q * named_[at(key.b)][at(key.s / problem_.sparse_block_size)];
}

}  // namespace assay::conformance::sparse_flash
