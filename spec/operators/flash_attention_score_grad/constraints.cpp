#include <algorithm>

#include "assay/spec/operators/flash_attention_score_grad.hpp"
#include "operators/flash_attention_score_grad/rows.hpp"

namespace assay::spec {
namespace {

std::vector<detail::FlashRow> all_rows() {
  std::vector<detail::FlashRow> rows;
  for (const auto group :
       {detail::presence_rows, detail::type_rows, detail::reserved_rows, detail::shape_rows,
        detail::extent_rows, detail::size_rows, detail::attribute_rows, detail::mask_rows,
        detail::window_rows, detail::prefix_rows, detail::position_rows, detail::split_rows,
        detail::length_rows, detail::rope_rows, detail::interface_rows, detail::product_rows}) {
    const auto of_group = group();
    rows.insert(rows.end(), of_group.begin(), of_group.end());
  }
  std::ranges::sort(rows, {}, &detail::FlashRow::id);
  return rows;
}

}  // namespace

std::span<const Constraint<FlashAttentionScoreGrad>> FlashAttentionScoreGrad::constraints() {
  static const std::vector<detail::FlashRow> rows = all_rows();
  return rows;
}

}  // namespace assay::spec
