#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::reference {

/// The keys first .. last - 1 of a sequence.
struct KeyRange {
  std::int64_t first = 0, last = 0;
  std::int64_t size() const { return last - first; }
  friend bool operator==(const KeyRange&, const KeyRange&) = default;
};

/// The queries first .. last - 1 of a sequence.
struct QueryRange {
  std::int64_t first = 0, last = 0;
  std::int64_t size() const { return last - first; }
  friend bool operator==(const QueryRange&, const QueryRange&) = default;
};

/// Which scores take part in the softmax: the predicates of the sparse modes, and the user's mask
/// in modes 0, 1 and 5. Query i and key j count from the start of sequence b, whose own lengths
/// place the diagonal. Compressed masks are canonical by contract, so their predicate is applied
/// and their elements are not read.
/// Source: aclnnFlashAttentionUnpaddingScoreGrad.md (attenMaskOptional, sparseMode).
class Mask {
 public:
  /// Refers to `atten_mask`; null or of rank 0: everything is kept, whatever the mode.
  /// Errors: std::invalid_argument for a sparse mode beyond 8, a mode 6 without a prefix for every
  ///         sequence, or a user mask whose shape does not broadcast to (batch, heads_q, seq_q,
  ///         seq_kv).
  Mask(const spec::FlashAttentionScoreGrad::Problem& problem, const spec::Tensor* atten_mask);

  bool keeps(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const {
    if (user_mask_)
      return atten_mask_->load(offset_ + b * batch_ + n * head_ + i * query_ + j * key_) == 0.0;
    const Window& window = window_of(b);
    return j < window.prefix || (i + window.left <= j && j <= i + window.right);
  }

  /// keep[k] = keeps(b, n, i, first + k) for k = 0 .. keep.size() - 1, as 0 or 1.
  void read_row(std::int64_t b, std::int64_t n, std::int64_t i, std::span<std::uint8_t> keep,
                std::int64_t first = 0) const;

  /// The keys of sequence b that the sparse mode alone lets query i of every head keep: exactly
  /// these unless the user's mask decides, then all keys of the sequence.
  KeyRange kept_range(std::int64_t b, std::int64_t i) const;

  /// The queries of sequence b that the sparse mode alone lets keep key j, exact and conservative
  /// in the same cases.
  QueryRange kept_queries(std::int64_t b, std::int64_t j) const;

 private:
  /// Query i keeps the keys below `prefix` and those from i + left to i + right.
  struct Window {
    std::int64_t prefix, left, right;
    std::int64_t length_q, length_kv;
  };

  const Window& window_of(std::int64_t b) const {
    return windows_[windows_.size() == 1 ? 0 : static_cast<std::size_t>(b)];
  }
  static Window window(const spec::FlashAttentionScoreGrad::Problem& problem, std::int64_t b,
                       std::int64_t sparse_mode);
  void broadcast(const spec::FlashAttentionScoreGrad::Problem& problem);

  bool user_mask_ = false;
  std::vector<Window> windows_;  ///< of every sequence, or one for all
  const spec::Tensor* atten_mask_;
  std::int64_t offset_ = 0, batch_ = 0, head_ = 0, query_ = 0, key_ = 0;
};

}  // namespace assay::reference
