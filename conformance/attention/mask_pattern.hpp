#pragma once

#include "assay/spec/operators/flash_attention_score_grad.hpp"
#include "attention/key_pattern.hpp"

namespace assay::conformance::attention {

/// The key pattern of a mask: a query attends once to each unmasked key.
class MaskPattern final : public KeyPattern {
 public:
  /// Keeps a reference to `atten_mask`; if it is null, no pair is masked. Errors: the errors of
  /// reference::Mask.
  MaskPattern(const spec::FlashAttentionScoreGrad::Problem& problem, const spec::Tensor* atten_mask)
      : problem_(problem), mask_(problem, atten_mask) {}

  std::int64_t times(std::int64_t b, std::int64_t n, std::int64_t i,
                     std::int64_t j) const override {
    return mask_.keeps(b, n, i, j) ? 1 : 0;
  }
  bool count(const spec::RowPosition& query, std::span<const std::int64_t> keys,
             std::span<std::uint8_t> times) const override;
  reference::KeyRange range(const spec::RowPosition& query) const override {
    return mask_.kept_range(query.b, query.s);
  }
  std::vector<std::int64_t> keys(const spec::RowPosition& query) const override;
  reference::QueryRange queries(std::int64_t b, std::int64_t j) const override {
    return mask_.kept_queries(b, j);
  }
  std::int64_t entries_of_query(std::int64_t b) const override { return problem_.length_kv(b); }
  std::int64_t entries_of_key(const spec::RowPosition& key) const override {
    return problem_.group() * problem_.length_q(key.b);
  }
  std::int64_t most_times() const override { return 1; }
  std::int64_t keys_alike() const override { return 1; }

 private:
  spec::FlashAttentionScoreGrad::Problem problem_;
  reference::Mask mask_;
};

}  // namespace assay::conformance::attention
