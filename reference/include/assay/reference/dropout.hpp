#pragma once

#include <cstdint>

#include "assay/reference/score_order.hpp"
#include "assay/spec/attention_problem.hpp"

namespace assay::reference {

/// Decides which probabilities dropout keeps. Score number e (in the order of `ScoreOrder`) uses
/// bit e mod 8 of byte e / 8 of the drop mask, counted from the least significant bit. A 1 keeps
/// the probability and divides it by `keep_prob`.
/// Source: FlashAttentionScoreGrad.md (dropMaskOptional, keepProb).
class Dropout {
 public:
  /// Keeps a reference to `drop_mask`, which is not read if keep_prob is 1.
  /// Errors: std::invalid_argument if the drop mask is missing, has several axes or is too short.
  Dropout(const spec::AttentionProblem& problem, const spec::Tensor* drop_mask);

  /// Returns whether the problem has dropout (keep_prob below 1).
  bool present() const { return drop_mask_ != nullptr; }

  bool keeps(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const {
    if (drop_mask_ == nullptr) return true;
    const std::int64_t bit = order_(b, n, i, j);
    const std::int64_t byte = drop_mask_->offset + bit / 8 * drop_mask_->strides.front();
    const auto eight = std::to_integer<unsigned>(drop_mask_->bytes[static_cast<std::size_t>(byte)]);
    return (eight >> (bit % 8) & 1u) != 0;
  }

  /// Returns the problem's keep_prob rounded to float, as the operator receives it.
  double keep_prob() const { return keep_prob_; }

 private:
  const spec::Tensor* drop_mask_ = nullptr;
  double keep_prob_;
  ScoreOrder order_;
};

}  // namespace assay::reference
