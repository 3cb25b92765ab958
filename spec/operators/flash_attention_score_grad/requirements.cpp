#include <algorithm>
#include <deque>
#include <utility>

#include "assay/spec/operators/flash_attention_score_grad.hpp"
#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec {
namespace {

/// Requirements that the documentation page of entry point u5 does not repeat: FAG-C21a
/// (attentionIn may be FLOAT32), FAG-C35a (replaced by SNK-C08a), and requirements only about
/// shapes and tensors of the entry points u2 or u3.
constexpr std::string_view not_on_u5[] = {"FAG-C21a", "FAG-C29d", "FAG-C35a", "FAG-C79d"};

/// Adds the entry points with a sink to a requirement. The documentation page of g3 repeats the
/// requirements of g2, and the page of u5 those of u2, u3 and u4. Requirements about products
/// (device families) are not repeated: SNK-P01 to SNK-P04 replace them. The requirements refer to
/// `lists`, so this variable lives as long as the program.
void add_pages_of_sinks(detail::FlashRequirement& one) {
  using enum FlashEntryPoint;
  static std::deque<std::vector<FlashEntryPoint>> lists;
  if (one.id.starts_with("FAG-P")) return;
  const auto states = [&](FlashEntryPoint entry_point) {
    return std::ranges::count(one.stated_for, entry_point) != 0 ||
           std::ranges::count(one.page_for, entry_point) != 0;
  };
  const bool is_of_u5 =
      (states(u2) || states(u3) || states(u4)) && std::ranges::count(not_on_u5, one.id) == 0;
  std::vector<FlashEntryPoint> pages(one.page_for.begin(), one.page_for.end());
  if (states(g2) && !states(g3)) pages.push_back(g3);
  if (is_of_u5 && !states(u5)) pages.push_back(u5);
  if (pages.size() != one.page_for.size()) one.page_for = lists.emplace_back(std::move(pages));
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
  for (detail::FlashRequirement& one : requirements) add_pages_of_sinks(one);
  std::ranges::sort(requirements, {}, &detail::FlashRequirement::id);
  return requirements;
}

}  // namespace

std::span<const Requirement<FlashAttentionScoreGrad>> FlashAttentionScoreGrad::requirements() {
  static const std::vector<detail::FlashRequirement> requirements = all_requirements();
  return requirements;
}

}  // namespace assay::spec
