#pragma once

#include <vector>

#include "assay/spec/operators/nsa_selected_attention_grad.hpp"
#include "attention/key_pattern.hpp"

namespace assay::conformance::selected {

using Op = spec::NsaSelectedAttentionGrad;

/// What lists of blocks name, as often as they do, and the causal mask leaves visible.
class ListPattern final : public KeyPattern {
 public:
  /// Errors: std::invalid_argument for a tensor that is not of the problem's shape, and for an
  /// index that names no whole
  ///         block of its sequence.
  ListPattern(const Op::Problem& problem, const spec::Tensor& topk_indices);

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
  /// A block that a list names, and how often.
  struct Entry {
    std::int64_t block, times;
  };
  /// Those of query (b, n, i), by ascending block.
  std::span<const Entry> list(const spec::RowPosition& query) const;
  std::size_t key_head(std::int64_t b, std::int64_t kv) const {
    return static_cast<std::size_t>(b * problem_.heads_kv + kv);
  }
  bool sees(std::int64_t i, std::int64_t j) const { return !causal_ || j <= i; }

  Op::Problem problem_;
  bool causal_;
  spec::Extents lists_;
  std::vector<std::size_t> begin_;  ///< by row of lists_: its first entry; and the end
  std::vector<Entry> entries_;
  std::int64_t most_times_ = 1;
  std::vector<std::vector<std::int64_t>>
      named_;  ///< by key head and block: how often all its lists name it
};

}  // namespace assay::conformance::selected
