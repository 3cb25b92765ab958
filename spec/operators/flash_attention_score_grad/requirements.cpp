#include <algorithm>

#include "assay/spec/operators/flash_attention_score_grad.hpp"
#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec {
namespace {

/// The page of g3 states what the page of g2 states, but of products: SNK-P01 and SNK-P02.
void add_page_of_sink(detail::FlashRequirement& one) {
  if (one.id.starts_with("FAG-P")) return;
  if (std::ranges::find(one.stated_for, FlashEntryPoint::g2) == one.stated_for.end()) return;
  if (one.page_for.empty())
    one.page_for = detail::g3_page;
  else
    one.page_for = detail::g3_and_public_pages;
}

std::vector<detail::FlashRequirement> all_requirements() {
  std::vector<detail::FlashRequirement> requirements;
  for (const auto group :
       {detail::presence_requirements, detail::type_requirements, detail::pse_type_requirements,
        detail::reserved_requirements, detail::shape_requirements, detail::extent_requirements,
        detail::size_requirements, detail::empty_extent_requirements,
        detail::attribute_requirements, detail::mask_requirements, detail::window_requirements,
        detail::prefix_requirements, detail::position_requirements, detail::split_requirements,
        detail::length_requirements, detail::rope_requirements, detail::interface_requirements,
        detail::sink_requirements, detail::product_requirements}) {
    const auto of_group = group();
    requirements.insert(requirements.end(), of_group.begin(), of_group.end());
  }
  for (detail::FlashRequirement& one : requirements) add_page_of_sink(one);
  std::ranges::sort(requirements, {}, &detail::FlashRequirement::id);
  return requirements;
}

}  // namespace

std::span<const Requirement<FlashAttentionScoreGrad>> FlashAttentionScoreGrad::requirements() {
  static const std::vector<detail::FlashRequirement> requirements = all_requirements();
  return requirements;
}

}  // namespace assay::spec
