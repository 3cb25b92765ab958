#pragma once

#include <vector>

#include "assay/spec/operators/selection.hpp"
#include "attention/key_pattern.hpp"

namespace assay::conformance::selection {

using Problem = spec::SelectionProblem;

/// The keys to which each query attends: the keys of the blocks in its list that the causal mask
/// leaves visible. A key counts as often as its block is in the list.
class ListPattern final : public KeyPattern {
 public:
  /// Errors: std::invalid_argument if topk_indices (the tensor of block lists) has a wrong shape,
  /// or if an index does not name a complete block of its sequence.
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
  /// A block in a list, and how often the list contains it.
  struct Entry {
    std::int64_t block, times;
  };
  /// Returns the block list of a query row, given by its batch entry b, head n and position i. The
  /// blocks are in ascending order.
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
