#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assay/spec/attention_problem.hpp"

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

/// Says which scores enter the softmax. Each sparse mode has a rule that selects them; modes 0, 1
/// and 5 also read the user's mask. Query i and key j count from the start of sequence b; the
/// lengths of that sequence define the diagonal. The elements of a compressed mask are not read:
/// the documentation prescribes their values, so the rule of the sparse mode replaces them.
/// Source: aclnnFlashAttentionUnpaddingScoreGrad.md (attenMaskOptional, sparseMode).
class Mask {
 public:
  /// Refers to `atten_mask`. If it is null or of rank 0, every pair is kept in all modes.
  /// Errors: std::invalid_argument for a sparse mode above 8, for mode 6 without a prefix for every
  /// sequence, or for a user mask whose shape does not broadcast to (batch, heads_q, seq_q,
  /// seq_kv).
  Mask(const spec::AttentionProblem& problem, const spec::Tensor* atten_mask);

  bool keeps(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const {
    if (user_mask_)
      return atten_mask_->load(offset_ + b * batch_ + n * head_ + i * query_ + j * key_) == 0.0;
    const Window& window = window_of(b);
    return j < window.prefix || (i + window.left <= j && j <= i + window.right);
  }

  /// keep[k] = keeps(b, n, i, first + k) for k = 0 .. keep.size() - 1, as 0 or 1.
  void read_row(std::int64_t b, std::int64_t n, std::int64_t i, std::span<std::uint8_t> keep,
                std::int64_t first = 0) const;

  /// The range of keys in sequence b that may be kept for query i, in any head. If the mode reads
  /// the user's mask, these are all keys of the sequence, because the range does not depend on the
  /// mask's values. In all other modes these are exactly the kept keys.
  KeyRange kept_range(std::int64_t b, std::int64_t i) const;

  /// Returns the range of queries in sequence b that may keep key j. In modes that read the user's
  /// mask this is the whole sequence; in all other modes it is exactly the queries that keep the
  /// key.
  QueryRange kept_queries(std::int64_t b, std::int64_t j) const;

 private:
  /// A rule of a sparse mode: query i keeps the keys below `prefix` and the keys from i + left to i
  /// + right.
  struct Window {
    std::int64_t prefix, left, right;
    std::int64_t length_q, length_kv;
  };

  const Window& window_of(std::int64_t b) const {
    return windows_[windows_.size() == 1 ? 0 : static_cast<std::size_t>(b)];
  }
  static Window window(const spec::AttentionProblem& problem, std::int64_t b,
                       std::int64_t sparse_mode);
  void broadcast(const spec::AttentionProblem& problem);

  bool user_mask_ = false;
  std::vector<Window> windows_;  ///< one entry per sequence, or one entry for all
  const spec::Tensor* atten_mask_;
  std::int64_t offset_ = 0, batch_ = 0, head_ = 0, query_ = 0, key_ = 0;
};

}  // namespace assay::reference
