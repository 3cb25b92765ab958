#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::reference {

/// Which scores take part in the softmax: the predicates of the sparse modes, and the user's mask in modes 0 and 1.
/// Compressed masks are canonical by contract, so their predicate is applied and their elements are not read.
/// Source: aclnnFlashAttentionUnpaddingScoreGrad.md (attenMaskOptional, sparseMode).
class Mask {
 public:
  /// Refers to `atten_mask`; null: everything is kept.
  Mask(const spec::FlashAttentionScoreGrad::Problem& problem, const spec::Tensor* atten_mask);

  bool keeps(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const;

 private:
  spec::FlashAttentionScoreGrad::Problem problem_;
  const spec::Tensor* atten_mask_;
};

}  // namespace assay::reference
