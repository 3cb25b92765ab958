#pragma once

#include <cstdint>

#include "assay/reference/score_order.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::reference {

/// Which probabilities dropout keeps: bit e mod 8, counted from the least significant, of byte e /
/// 8 of the drop mask belongs to score e of `ScoreOrder`; 1 keeps. Kept ones are divided by
/// `keep_prob`.
/// Source: FlashAttentionScoreGrad.md (dropMaskOptional, keepProb).
class Dropout {
 public:
  /// Refers to `drop_mask`, which is left alone if the problem's keep_prob is 1.
  /// Errors: std::invalid_argument for dropout without a mask, or a mask that is no row of enough
  ///         bytes.
  Dropout(const spec::FlashAttentionScoreGrad::Problem& problem, const spec::Tensor* drop_mask);

  /// Whether anything is dropped or divided at all.
  bool present() const { return drop_mask_ != nullptr; }

  bool keeps(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const {
    if (drop_mask_ == nullptr) return true;
    const std::int64_t bit = order_(b, n, i, j);
    const std::int64_t byte = drop_mask_->offset + bit / 8 * drop_mask_->strides.front();
    const auto eight = std::to_integer<unsigned>(drop_mask_->bytes[static_cast<std::size_t>(byte)]);
    return (eight >> (bit % 8) & 1u) != 0;
  }

  /// The problem's keep_prob as the operator reads it, rounded to float.
  double keep_prob() const { return keep_prob_; }

 private:
  const spec::Tensor* drop_mask_ = nullptr;
  double keep_prob_;
  ScoreOrder order_;
};

}  // namespace assay::reference
