#pragma once

#include <memory>

#include "attention/dense.hpp"
#include "attention/mask_pattern.hpp"
#include "attention/variant/variant.hpp"

namespace assay::conformance::attention {

/// The key pattern of a case with a formula: a query attends to a key if neither the mask nor the
/// formula masks the pair. It also contains the formula, for code that gets only the operands of
/// the case.
class VariantPattern final : public KeyPattern {
 public:
  VariantPattern(const Op::Problem& problem, const spec::Tensor* atten_mask,
                 std::shared_ptr<const Variant> variant)
      : mask_(problem, atten_mask), variant_(std::move(variant)) {}

  const Variant& variant() const { return *variant_; }

  std::int64_t times(std::int64_t b, std::int64_t n, std::int64_t i,
                     std::int64_t j) const override {
    return mask_.times(b, n, i, j) != 0 && variant_->keeps({b, n, i, j}) ? 1 : 0;
  }
  bool count(const spec::RowPosition& query, std::span<const std::int64_t> keys,
             std::span<std::uint8_t> times) const override;
  reference::KeyRange range(const spec::RowPosition& query) const override {
    return mask_.range(query);
  }
  std::vector<std::int64_t> keys(const spec::RowPosition& query) const override {
    return mask_.keys(query);
  }
  reference::QueryRange queries(std::int64_t b, std::int64_t j) const override {
    return mask_.queries(b, j);
  }
  std::int64_t entries_of_query(std::int64_t b) const override { return mask_.entries_of_query(b); }
  std::int64_t entries_of_key(const spec::RowPosition& key) const override {
    return mask_.entries_of_key(key);
  }
  std::int64_t most_times() const override { return 1; }
  std::int64_t keys_alike() const override { return 1; }

 private:
  MaskPattern mask_;
  std::shared_ptr<const Variant> variant_;
};

/// Returns the formula of a case, or null.
const Variant* variant_of(const Dense& dense);
/// Returns the formula if it replaces scores, or null.
const Variant* score_variant_of(const Dense& dense);
/// Returns the largest factor by which a formula multiplies a gradient of a score: 1 without one.
double largest_slope_of(const Dense& dense);

/// The operands of a case with this formula (null: without one).
Dense dense_of(const Op::Problem& problem, const Op::Inputs& inputs,
               std::shared_ptr<const Variant> variant, Held held = Held::all);

}  // namespace assay::conformance::attention
