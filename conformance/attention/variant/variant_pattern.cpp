#include "attention/variant/variant_pattern.hpp"

#include <algorithm>
#include <cmath>

namespace assay::conformance::attention {

bool VariantPattern::count(const spec::RowPosition& query, std::span<const std::int64_t> keys,
                           std::span<std::uint8_t> times) const {
  if (!mask_.count(query, keys, times)) return false;
  if (!variant_->has_keep()) return true;
  engine::expression::Values<engine::Lanes> values;
  auto at = variant_->places(engine::Lanes{}, {query.b, query.n, query.s, 0});
  engine::Lanes& key = at[static_cast<std::size_t>(engine::expression::Variable::j)];
  constexpr std::size_t lanes = engine::lanes_of<engine::Lanes>;
  bool any = false;
  for (std::size_t first = 0; first < keys.size(); first += lanes) {
    const std::size_t count = std::min(lanes, keys.size() - first);
    // Unused lanes repeat a key, so that every index is inside its array.
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
               std::shared_ptr<const Variant> variant, Held held) {
  if (variant == nullptr) return {problem, inputs, held};
  const spec::Tensor* mask = inputs.atten_mask ? &*inputs.atten_mask : nullptr;
  return {problem, operands_of(inputs),
          std::make_shared<VariantPattern>(problem, mask, std::move(variant)), held};
}

}  // namespace assay::conformance::attention
