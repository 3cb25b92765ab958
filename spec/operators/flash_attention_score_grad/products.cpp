#include "operators/attention/products.hpp"

#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec {
namespace detail {
namespace {

using enum FlashEntryPoint;
using enum Product;

constexpr Cell<FlashOp> cells[] = {
    {g1, a2, "FAG-P01", "Atlas A2 training products offer aclnnFlashAttentionScoreGrad.",
     operator_page, "", is_cell<g1, a2>},
    // Other vendor documentation pages of the same revision say that this product is not supported.
    // The operator's own page takes precedence.
    {g1, a3, "FAG-P02", "Atlas A3 training products offer aclnnFlashAttentionScoreGrad.",
     operator_page, "FAG-Q1", is_cell<g1, a3>},
    {g2, a2, "FAG-P03", "Atlas A2 training products offer aclnnFlashAttentionScoreGradV2.",
     operator_page, "FAG-Q26", is_cell<g2, a2>},
    {g2, a3, "FAG-P04", "Atlas A3 training products offer aclnnFlashAttentionScoreGradV2.",
     operator_page, "FAG-Q1", is_cell<g2, a3>},
    {u1, a2, "FAG-P05", "Atlas A2 training products offer aclnnFlashAttentionUnpaddingScoreGrad.",
     unpadding_page, "FAG-Q30", is_cell<u1, a2>},
    {u1, a3, "FAG-P06",
     "Atlas A3 training products do not offer aclnnFlashAttentionUnpaddingScoreGrad.",
     unpadding_page, "FAG-Q1", is_cell<u1, a3>, false},
    {u2, a2, "FAG-P07", "Atlas A2 training products offer aclnnFlashAttentionUnpaddingScoreGradV2.",
     upstream_second_unpadding_page, "", is_cell<u2, a2>},
    {u2, a3, "FAG-P08", "Atlas A3 training products offer aclnnFlashAttentionUnpaddingScoreGradV2.",
     upstream_second_unpadding_page, "FAG-Q1", is_cell<u2, a3>},
    {u3, a2, "FAG-P09", "Atlas A2 training products offer aclnnFlashAttentionUnpaddingScoreGradV3.",
     rope_page, "FAG-Q30", is_cell<u3, a2>},
    {u3, a3, "FAG-P10", "Atlas A3 training products offer aclnnFlashAttentionUnpaddingScoreGradV3.",
     rope_page, "", is_cell<u3, a3>},
    {u4, a2, "FAG-P11", "Atlas A2 training products offer aclnnFlashAttentionUnpaddingScoreGradV4.",
     upstream_fourth_unpadding_page, "", is_cell<u4, a2>},
    {u4, a3, "FAG-P12", "Atlas A3 training products offer aclnnFlashAttentionUnpaddingScoreGradV4.",
     upstream_fourth_unpadding_page, "FAG-Q1", is_cell<u4, a3>},
    {g3, a2, "SNK-P01", "Atlas A2 training products offer aclnnFlashAttentionScoreGradV3.",
     sink_page, "", is_cell<g3, a2>},
    {g3, a3, "SNK-P02", "Atlas A3 training products offer aclnnFlashAttentionScoreGradV3.",
     sink_page, "", is_cell<g3, a3>},
    {u5, a2, "SNK-P03", "Atlas A2 training products offer aclnnFlashAttentionUnpaddingScoreGradV5.",
     packed_sink_page, "", is_cell<u5, a2>},
    {u5, a3, "SNK-P04", "Atlas A3 training products offer aclnnFlashAttentionUnpaddingScoreGradV5.",
     packed_sink_page, "", is_cell<u5, a3>},
};

/// A statement about a product (device family) on which the test suite never runs, so no case can
/// test it.
struct ForeignCell {
  std::string_view id, statement, page;
  bool (*applies)(const FlashCall& call);
};

template <FlashEntryPoint entry_point>
bool is_on(const FlashCall& c) {
  return c.entry_point == entry_point;
}

constexpr ForeignCell foreign_cells[] = {
    {"FAG-P13", "Atlas A3 inference products offer no FlashAttentionScoreGrad.", operator_page,
     is_padded},
    {"FAG-P14", "Atlas 800I A2 and A200I A2 Box offer no FlashAttentionScoreGrad.", operator_page,
     is_padded},
    {"FAG-P15", "Atlas A3 inference products offer no aclnnFlashAttentionUnpaddingScoreGrad.",
     unpadding_page, is_on<u1>},
    {"FAG-P16", "Atlas 800I A2 and A200I A2 Box offer no aclnnFlashAttentionUnpaddingScoreGrad.",
     unpadding_page, is_on<u1>},
    {"FAG-P17", "Atlas A3 inference products offer aclnnFlashAttentionUnpaddingScoreGradV3.",
     rope_page, is_on<u3>},
    {"FAG-P18", "Atlas A2 inference products offer no aclnnFlashAttentionUnpaddingScoreGradV3.",
     rope_page, is_on<u3>},
    {"FAG-P19", "Atlas A3 inference products offer aclnnFlashAttentionUnpaddingScoreGradV2.",
     upstream_second_unpadding_page, is_on<u2>},
    {"FAG-P20", "Atlas A3 inference products offer aclnnFlashAttentionUnpaddingScoreGradV4.",
     upstream_fourth_unpadding_page, is_on<u4>},
};
}  // namespace

std::vector<FlashRequirement> product_requirements() {
  std::vector<FlashRequirement> requirements = requirements_of<FlashOp>(cells);
  for (const ForeignCell& cell : foreign_cells)
    requirements.push_back(
        stated(by(standing_of(cell.page), cell.id, {cell.page, "products"}),
               {.statement = cell.statement,
                .sides = {Side::none},
                .applies = cell.applies,
                .reason = "a call names the Atlas product a2 or a3; both are training devices"}));
  return requirements;
}

}  // namespace detail

bool supports(FlashEntryPoint entry_point, Product product) {
  return detail::cell_of<detail::FlashOp>(detail::cells, entry_point, product).offered;
}

std::string_view product_requirement(FlashEntryPoint entry_point, Product product) {
  return detail::cell_of<detail::FlashOp>(detail::cells, entry_point, product).id;
}

}  // namespace assay::spec
