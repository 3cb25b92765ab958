#include "attention/variant/variant_pattern.hpp"

#include <algorithm>
#include <cmath>

namespace assay::conformance::attention {

namespace {

/// Returns the positions of `range` that the part contains. `range.last` is not included.
template <class Range>
Range within(Range range, const std::optional<GradientPart>& part, PartAxis axis) {
  if (!part || part->axis != axis) return range;
  range.first = std::max(range.first, part->first);
  range.last = std::max(range.first, std::min(range.last, part->last + 1));
  return range;
}

}  // namespace

VariantPattern::VariantPattern(const Op::Problem& problem, const spec::Tensor* atten_mask,
                               std::shared_ptr<const Variant> variant)
    : mask_(problem, atten_mask), group_(problem.group()), variant_(std::move(variant)) {
  if (variant_->part())
    whole_ = std::make_shared<VariantPattern>(
        problem, atten_mask, std::make_shared<const Variant>(variant_->restricted_to({})));
}

reference::KeyRange VariantPattern::range(const spec::RowPosition& query) const {
  const std::optional<GradientPart>& part = variant_->part();
  if (part && !part->has_query(query.s)) return {};
  return within(mask_.range(query), part, PartAxis::kv);
}

std::vector<std::int64_t> VariantPattern::keys(const spec::RowPosition& query) const {
  const reference::KeyRange kept = range(query);
  return ascending(kept.first, std::max(kept.first, kept.last));
}

reference::QueryRange VariantPattern::queries(std::int64_t b, std::int64_t j) const {
  const std::optional<GradientPart>& part = variant_->part();
  if (part && !part->has_key(j)) return {};
  return within(mask_.queries(b, j), part, PartAxis::q);
}

std::int64_t VariantPattern::entries_of_query(std::int64_t b) const {
  const std::optional<GradientPart>& part = variant_->part();
  return part && part->axis == PartAxis::kv ? part->size() : mask_.entries_of_query(b);
}

std::int64_t VariantPattern::entries_of_key(const spec::RowPosition& key) const {
  const std::optional<GradientPart>& part = variant_->part();
  const std::int64_t entries = mask_.entries_of_key(key);
  if (!part) return entries;
  if (part->axis == PartAxis::kv) return part->has_key(key.s) ? entries : 0;
  return group_ * part->size();
}

bool VariantPattern::count(const spec::RowPosition& query, std::span<const std::int64_t> keys,
                           std::span<std::uint8_t> times) const {
  if (!mask_.count(query, keys, times)) return false;
  if (const auto& part = variant_->part()) {
    if (!part->has_query(query.s)) {
      std::ranges::fill(times, 0);
      return false;
    }
    bool some = false;
    for (std::size_t k = 0; k < keys.size(); ++k) {
      if (!part->has_key(keys[k])) times[k] = 0;
      some |= times[k] != 0;
    }
    if (!some) return false;
  }
  if (!variant_->has_keep()) return true;
  engine::expression::Values<engine::Lanes> values;
  auto at = variant_->places(engine::Lanes{}, {query.b, query.n, query.s, 0});
  engine::Lanes& key = at[static_cast<std::size_t>(engine::expression::Variable::j)];
  constexpr std::size_t lanes = engine::lanes_of<engine::Lanes>;
  bool any = false;
  for (std::size_t first = 0; first < keys.size(); first += lanes) {
    const std::size_t count = std::min(lanes, keys.size() - first);
    // Unused SIMD lanes repeat a key, so that every index is inside its array.
    for (std::size_t k = 0; k < lanes; ++k)
      key[k] = static_cast<double>(keys[first + std::min(k, count - 1)]);
    values.evaluate(variant_->keep_graph(), at);
    const engine::Lanes& kept = values[variant_->keep()];
    for (std::size_t k = 0; k < count; ++k) {
      times[first + k] = times[first + k] != 0 && kept[k] != 0 ? 1 : 0;
      any |= times[first + k] != 0;
    }
  }
  return any;
}

const Variant* variant_of(const Dense& dense) {
  const auto* pattern = dynamic_cast<const VariantPattern*>(dense.key_pattern.get());
  return pattern == nullptr ? nullptr : &pattern->variant();
}

std::optional<GradientPart> judged_part(const Dense& dense) {
  const Variant* variant = variant_of(dense);
  return variant == nullptr ? std::nullopt : variant->part();
}

bool is_partial_sum(const Dense& dense, std::string_view gradient) {
  const std::optional<GradientPart> part = judged_part(dense);
  return part && part->sums_to(gradient);
}

std::shared_ptr<const KeyPattern> whole_pattern_of(const Dense& dense) {
  const auto* pattern = dynamic_cast<const VariantPattern*>(dense.key_pattern.get());
  if (pattern == nullptr || pattern->whole() == nullptr) return dense.key_pattern;
  return pattern->whole();
}

const Variant* score_variant_of(const Dense& dense) {
  const Variant* variant = variant_of(dense);
  return variant != nullptr && variant->has_score() ? variant : nullptr;
}

double largest_slope_of(const Dense& dense) {
  const Variant* variant = score_variant_of(dense);
  if (variant == nullptr) return 1;
  const double product = std::abs(dense.scale) * std::sqrt(dense.largest_query * dense.largest_key);
  return variant->largest_slope(dense.position_bias.present() ? HUGE_VAL : product * (1 + 0x1p-20));
}

Dense dense_of(const Op::Problem& problem, const Op::Inputs& inputs,
               std::shared_ptr<const Variant> variant) {
  if (variant == nullptr) return {problem, inputs};
  const spec::Tensor* mask = inputs.atten_mask ? &*inputs.atten_mask : nullptr;
  return {problem, operands_of(inputs),
          std::make_shared<VariantPattern>(problem, mask, std::move(variant))};
}

}  // namespace assay::conformance::attention
