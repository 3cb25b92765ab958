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

/// Decides which pairs (query, key) are unmasked. Each sparse mode has a rule; modes 0, 1 and 5
/// also read the user's mask. Query i and key j count from the start of sequence b, and the lengths
/// of sequence b define the diagonal. Does not read a compressed mask: the documentation fixes its
/// elements, so the rule gives the same result. Source: aclnnFlashAttentionUnpaddingScoreGrad.md
/// (attenMaskOptional, sparseMode).
class Mask {
 public:
  /// Keeps a reference to `atten_mask`. If the tensor is null or of rank 0, every pair is unmasked
  /// in all modes.
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

  /// For k = 0 .. keep.size() - 1: sets keep[k] to 1 if the pair of query i and key first + k is
  /// unmasked, otherwise to 0.
  void read_row(std::int64_t b, std::int64_t n, std::int64_t i, std::span<std::uint8_t> keep,
                std::int64_t first = 0) const;

  /// Returns the range of keys in sequence b that may be unmasked for query i, in any head. In
  /// modes that read the user's mask, this is the whole sequence, because the function does not
  /// read the mask. In all other modes, the range contains exactly the unmasked keys.
  KeyRange kept_range(std::int64_t b, std::int64_t i) const;

  /// Returns the range of queries in sequence b for which key j may be unmasked. In modes that read
  /// the user's mask, this is the whole sequence. In all other modes, the range contains exactly
  /// the queries for which the key is unmasked.
  QueryRange kept_queries(std::int64_t b, std::int64_t j) const;

 private:
  /// The rule of a sparse mode: for query i, the keys below `prefix` and the keys from i + left to
  /// i + right are unmasked.
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
