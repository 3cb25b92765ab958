#pragma once

#include <vector>

#include "assay/spec/operators/selection.hpp"
#include "attention/key_pattern.hpp"

namespace assay::conformance::selection {

using Problem = spec::SelectionProblem;

/// The key pattern of a list: a query attends to the keys of its listed blocks that the causal mask
/// leaves visible, as often as the block is listed.
class ListPattern final : public KeyPattern {
 public:
  /// Errors: std::invalid_argument for a tensor with another shape than the problem requires, and
  /// for an index that does not name a whole block of its sequence.
  ListPattern(const Problem& problem, const spec::Tensor& topk_indices);

  std::int64_t times(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const override;
  bool count(const spec::RowPosition& query, std::span<const std::int64_t> keys,
             std::span<std::uint8_t> times) const override;
  reference::KeyRange range(const spec::RowPosition& query) const override;
  std::vector<std::int64_t> keys(const spec::RowPosition& query) const override;
  reference::QueryRange queries(std::int64_t b, std::int64_t) const override {
    return {0, problem_.length_q(b)};
  }
  std::int64_t entries_of_query(std::int64_t) const override {
    return problem_.selected_block_size * problem_.selected_block_count;
  }
  std::int64_t entries_of_key(const spec::RowPosition& key) const override;
  std::int64_t most_times() const override { return most_times_; }
  std::int64_t keys_alike() const override { return problem_.selected_block_size; }

 private:
  /// A block of a list, and how often the list names it.
  struct Entry {
    std::int64_t block, times;
  };
  /// Returns the entries of query (b, n, i), in ascending order of the blocks.
  std::span<const Entry> list(const spec::RowPosition& query) const;
  std::size_t key_head(std::int64_t b, std::int64_t kv) const {
    return static_cast<std::size_t>(b * problem_.heads_kv + kv);
  }
  bool sees(std::int64_t i, std::int64_t j) const { return !causal_ || j <= i; }

  Problem problem_;
  bool causal_;
  spec::Extents lists_;
  std::vector<std::size_t> begin_;  ///< by row of lists_: the index of its first entry; and the end
  std::vector<Entry> entries_;
  std::int64_t most_times_ = 1;
  std::vector<std::vector<std::int64_t>>
      named_;  ///< by key head and block: how often all lists together name it
};

}  // namespace assay::conformance::selection
