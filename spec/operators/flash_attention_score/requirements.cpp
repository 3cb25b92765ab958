#include <algorithm>
#include <deque>
#include <string>

#include "operators/attention/products.hpp"
#include "operators/flash_attention_score/table.hpp"

namespace assay::spec {
namespace detail {
namespace {

using enum FlashForwardEntryPoint;
using enum Product;

constexpr Cell<ForwardOp> forward_cells[] = {
    {f1, a2, "FAS-P01", "Atlas A2 products offer aclnnFlashAttentionScore.", dense_page, "",
     is_cell<f1, a2>},
    {f1, a3, "FAS-P02", "Atlas A3 products offer aclnnFlashAttentionScore.", dense_page, "",
     is_cell<f1, a3>},
    {f2, a2, "FAS-P03", "Atlas A2 products offer aclnnFlashAttentionScoreV2.", slopes_page, "",
     is_cell<f2, a2>},
    {f2, a3, "FAS-P04", "Atlas A3 products offer aclnnFlashAttentionScoreV2.", slopes_page, "",
     is_cell<f2, a3>},
    {l1, a2, "FAS-P05", "Atlas A2 products offer aclnnFlashAttentionVarLenScore.", varlen_page, "",
     is_cell<l1, a2>},
    {l1, a3, "FAS-P06", "Atlas A3 products offer aclnnFlashAttentionVarLenScore.", varlen_page, "",
     is_cell<l1, a3>},
    {l2, a2, "FAS-P07", "Atlas A2 products offer aclnnFlashAttentionVarLenScoreV2.",
     second_varlen_page, "", is_cell<l2, a2>},
    {l2, a3, "FAS-P08", "Atlas A3 products offer aclnnFlashAttentionVarLenScoreV2.",
     second_varlen_page, "", is_cell<l2, a3>},
    {l3, a2, "FAS-P09", "Atlas A2 products offer aclnnFlashAttentionVarLenScoreV3.",
     third_varlen_page, "", is_cell<l3, a2>},
    {l3, a3, "FAS-P10", "Atlas A3 products offer aclnnFlashAttentionVarLenScoreV3.",
     third_varlen_page, "", is_cell<l3, a3>},
    {f3, a2, "SNKF-P01", "Atlas A2 products offer aclnnFlashAttentionScoreV3.", slopes_page, "",
     is_cell<f3, a2>},
    {f3, a3, "SNKF-P02", "Atlas A3 products offer aclnnFlashAttentionScoreV3.", slopes_page, "",
     is_cell<f3, a3>},
    {l5, a2, "SNKF-P03", "Atlas A2 products offer aclnnFlashAttentionVarLenScoreV5.",
     fifth_varlen_page, "", is_cell<l5, a2>},
    {l5, a3, "SNKF-P04", "Atlas A3 products offer aclnnFlashAttentionVarLenScoreV5.",
     fifth_varlen_page, "", is_cell<l5, a3>},
};

/// The forward and its gradient have some requirements in common, which use the gradient's
/// parameter names. This function replaces them by the names on the documentation pages of the
/// forward. The returned texts live as long as the program.
std::string_view in_words_of_the_forward(std::string_view statement) {
  static std::deque<std::string> texts;
  std::string& text = texts.emplace_back(statement);
  for (const auto& [of_gradient, of_forward] :
       {std::pair<std::string_view, std::string_view>{"keyIn", "key"},
        {"pseShift", "realShift"},
        {"attentionIn", "attentionOut"}})
    for (std::size_t at = 0; (at = text.find(of_gradient, at)) != std::string::npos;)
      text.replace(at, of_gradient.size(), of_forward);
  return text;
}

std::vector<ForwardRow> forward_requirements() {
  std::vector<ForwardRow> all = requirements_of<ForwardOp>(forward_cells);
  for (const auto group : {forward_type_requirements, forward_shape_requirements,
                           forward_mask_requirements, forward_sink_requirements}) {
    const auto of_group = group();
    all.insert(all.end(), of_group.begin(), of_group.end());
  }
  for (ForwardRow& row : all) row.statement = in_words_of_the_forward(row.statement);
  std::ranges::sort(all, {}, &ForwardRow::id);
  return all;
}

}  // namespace
}  // namespace detail

std::span<const Requirement<FlashAttentionScore>> FlashAttentionScore::requirements() {
  static const std::vector<detail::ForwardRow> all = detail::forward_requirements();
  return all;
}

bool supports(FlashForwardEntryPoint entry_point, Product product) {
  return detail::cell_of<detail::ForwardOp>(detail::forward_cells, entry_point, product).offered;
}

std::string_view product_requirement(FlashForwardEntryPoint entry_point, Product product) {
  return detail::cell_of<detail::ForwardOp>(detail::forward_cells, entry_point, product).id;
}

}  // namespace assay::spec
