#pragma once

#include <cstdint>
#include <span>

#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::reference {

/// Which scores take part in the softmax: the predicates of the sparse modes, and the user's mask in modes 0 and 1.
/// Compressed masks are canonical by contract, so their predicate is applied and their elements are not read.
/// Source: aclnnFlashAttentionUnpaddingScoreGrad.md (attenMaskOptional, sparseMode).
class Mask {
 public:
  /// Refers to `atten_mask`; null or of rank 0: everything is kept, whatever the mode.
  /// Errors: std::invalid_argument for a sparse mode without predicate here, or a user mask whose shape does not
  ///         broadcast to (batch, heads_q, seq_q, seq_kv).
  Mask(const spec::FlashAttentionScoreGrad::Problem& problem, const spec::Tensor* atten_mask);

  bool keeps(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const {
    switch (rule_) {
      case Rule::all: return true;
      case Rule::diagonal: return j <= i + diagonal_;
      case Rule::band: return i + first_ <= j && j <= i + diagonal_;
      case Rule::tensor: break;
    }
    return atten_mask_->load(offset_ + b * batch_ + n * head_ + i * query_ + j * key_) == 0.0;
  }

  /// keep[j] = keeps(b, n, i, j) for j = 0 .. keep.size() - 1, as 0 or 1.
  void read_row(std::int64_t b, std::int64_t n, std::int64_t i, std::span<std::uint8_t> keep) const;

  /// Keys from here on are excluded for the queries 0..i of every head by the sparse mode alone.
  std::int64_t kept_end(std::int64_t i) const;

 private:
  enum class Rule : std::uint8_t { all, diagonal, band, tensor };

  void broadcast(const spec::FlashAttentionScoreGrad::Problem& problem);

  Rule rule_ = Rule::all;
  std::int64_t seq_kv_;
  std::int64_t diagonal_ = 0;  ///< rules diagonal and band: query i keeps the keys up to i + diagonal_
  std::int64_t first_ = 0;     ///< rule band: and from i + first_ on
  const spec::Tensor* atten_mask_;
  std::int64_t offset_ = 0, batch_ = 0, head_ = 0, query_ = 0, key_ = 0;
};

}  // namespace assay::reference
