#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "attention/dense.hpp"
#include "attention/mask_pattern.hpp"
#include "attention/variant/variant.hpp"

namespace assay::conformance::attention {

/// The key pattern of a case with a formula or a part: a query attends to a key if neither the mask
/// nor the formula masks the pair, and the part contains it. It also contains the formula, for code
/// that gets only the operands of the case.
class VariantPattern final : public KeyPattern {
 public:
  VariantPattern(const Op::Problem& problem, const spec::Tensor* atten_mask,
                 std::shared_ptr<const Variant> variant);

  const Variant& variant() const { return *variant_; }
  /// Returns the pattern without the part, or null if there is no part.
  const std::shared_ptr<const VariantPattern>& whole() const { return whole_; }

  std::int64_t times(std::int64_t b, std::int64_t n, std::int64_t i,
                     std::int64_t j) const override {
    return mask_.times(b, n, i, j) != 0 && variant_->keeps({b, n, i, j}) ? 1 : 0;
  }
  bool count(const spec::RowPosition& query, std::span<const std::int64_t> keys,
             std::span<std::uint8_t> times) const override;
  reference::KeyRange range(const spec::RowPosition& query) const override;
  std::vector<std::int64_t> keys(const spec::RowPosition& query) const override;
  reference::QueryRange queries(std::int64_t b, std::int64_t j) const override;
  std::int64_t entries_of_query(std::int64_t b) const override;
  std::int64_t entries_of_key(const spec::RowPosition& key) const override;
  std::int64_t most_times() const override { return 1; }
  std::int64_t keys_alike() const override { return 1; }

 private:
  MaskPattern mask_;
  std::int64_t group_;
  std::shared_ptr<const Variant> variant_;
  std::shared_ptr<const VariantPattern> whole_;
};

/// Returns the user's formula of a case, or null.
const Variant* variant_of(const Dense& dense);
/// Returns the user's formula if it replaces scores, otherwise null.
const Variant* score_variant_of(const Dense& dense);
/// Returns the part of a case, or nothing.
std::optional<GradientPart> judged_part(const Dense& dense);
/// Returns whether the gradient is a sum over a part, which a kernel returns in fp32.
bool is_partial_sum(const Dense& dense, std::string_view gradient);
/// Returns the pattern of all pairs, to which the statistics of the case belong.
std::shared_ptr<const KeyPattern> whole_pattern_of(const Dense& dense);
/// Returns the largest factor by which a formula multiplies the gradient of a score. Returns 1
/// without a formula.
double largest_slope_of(const Dense& dense);

/// Returns the tensors of a case together with its formula; `variant` is null without a formula.
/// Keeps references to the inputs.
Dense dense_of(const Op::Problem& problem, const Op::Inputs& inputs,
               std::shared_ptr<const Variant> variant);
Dense dense_of(const Op::Problem& problem, Op::Inputs&& inputs,
               std::shared_ptr<const Variant> variant) = delete;

}  // namespace assay::conformance::attention
