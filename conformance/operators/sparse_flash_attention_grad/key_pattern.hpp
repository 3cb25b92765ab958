#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/spec/operators/sparse_flash_attention_grad.hpp"
#include "assay/spec/tensor.hpp"
#include "attention/key_pattern.hpp"

namespace assay::conformance::sparse_flash {

using Problem = spec::SparseFlashProblem;

/// The keys that a query can see: the first `keys` keys of its sequence, which are in `blocks`
/// blocks. The list of the query contains `used` of these blocks.
struct Seen {
  std::int64_t keys, blocks, used;
};

/// Returns what query s of sequence b can see. In sparse mode 3 the last query sees all keys of its
/// sequence, and each earlier query sees one key less. Source: SFAG-Q3, SFAG-Q12.
inline Seen seen_by(const Problem& p, std::int64_t b, std::int64_t s) {
  const std::int64_t hidden = p.sparse_mode == 3 ? p.length_q(b) - 1 - s : 0;
  const std::int64_t keys = std::max<std::int64_t>(p.length_kv(b) - hidden, 0);
  const std::int64_t blocks = (keys + p.sparse_block_size - 1) / p.sparse_block_size;
  return {keys, blocks, std::min(blocks, p.sparse_block_count)};
}

/// The visible keys of the listed blocks. All query heads of a token share one list.
class ListPattern final : public KeyPattern {
 public:
  /// Errors: std::invalid_argument if the tensor has a wrong shape, or if a list breaks requirement
  /// SFAG-C32.
  ListPattern(const Problem& problem, const spec::Tensor& sparse_indices);

  std::int64_t times(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const override;
  bool count(const spec::RowPosition& query, std::span<const std::int64_t> keys,
             std::span<std::uint8_t> times) const override;
  reference::KeyRange range(const spec::RowPosition& query) const override;
  std::vector<std::int64_t> keys(const spec::RowPosition& query) const override;
  reference::QueryRange queries(std::int64_t b, std::int64_t) const override {
    return {0, problem_.length_q(b)};
  }
  std::int64_t entries_of_query(std::int64_t b) const override;
  std::int64_t entries_of_key(const spec::RowPosition& key) const override;
  std::int64_t most_times() const override { return 1; }
  std::int64_t keys_alike() const override {
    return problem_.sparse_mode == 0 ? problem_.sparse_block_size : 1;
  }

 private:
  /// Returns the blocks in the list of token i of sequence b, in ascending order.
  const std::vector<std::int64_t>& list(std::int64_t b, std::int64_t i) const {
    return lists_[static_cast<std::size_t>(tokens_.start(b) + i)];
  }

  Problem problem_;
  spec::Extents tokens_;
  std::vector<std::vector<std::int64_t>> lists_;
  std::vector<std::vector<std::int64_t>> named_;  ///< by sequence and block: how often it is listed
};

}  // namespace assay::conformance::sparse_flash
