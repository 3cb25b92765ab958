#include <algorithm>
#include <stdexcept>

#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec {
namespace detail {
namespace {

/// The statement on an entry point's page about one product.
struct Cell {
  FlashEntryPoint entry_point;
  Product product;
  std::string_view id, statement, page, notes;
  bool (*applies)(const FlashCall& call);
  bool offered = true;
};

template <FlashEntryPoint entry_point, Product product>
bool is_cell(const FlashCall& c) {
  return c.entry_point == entry_point && c.product == product;
}

using enum FlashEntryPoint;
using enum Product;

constexpr Cell cells[] = {
    {g1, a2, "FAG-P01", "Atlas A2 training products offer aclnnFlashAttentionScoreGrad.",
     operator_page, "", is_cell<g1, a2>},
    // The other upstream pages of the same revision say that the product is not supported; the
    // operator's own page decides.
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
};

/// This suite never runs on these products, so there is nothing to test.
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
constexpr std::string_view refused_product_reason =
    "no page says which status a call on such a product returns; a sweep has cases only for "
    "products that offer the entry point";

using Pages = std::span<const FlashEntryPoint>;

bool is_public(std::string_view page) { return page.starts_with("ops-transformer: "); }
Standing standing_of(std::string_view page) {
  return is_public(page) ? Standing::page : Standing::documented;
}
/// Returns `entry_points` if the page is one of the seeds, otherwise an empty list.
/// `of_public_page` does the reverse.
Pages of_seed(std::string_view page, Pages entry_points) {
  return is_public(page) ? Pages() : entry_points;
}
Pages of_public_page(std::string_view page, Pages entry_points) {
  return is_public(page) ? entry_points : Pages();
}

const Cell& cell_of(FlashEntryPoint entry_point, Product product) {
  for (const Cell& cell : cells)
    if (cell.entry_point == entry_point && cell.product == product) return cell;
  throw std::logic_error("no requirement says whether this product offers this entry point");
}

}  // namespace

/// A call cannot break these requirements: the table of products is a fact of the documents, and
/// the computation does not depend on it.
std::vector<FlashRequirement> product_requirements() {
  std::vector<FlashRequirement> requirements;
  for (const Cell& cell : cells)
    requirements.push_back({.id = cell.id,
                            .statement = cell.statement,
                            .source = {cell.page, "products"},
                            .standing = standing_of(cell.page),
                            .stated_for = of_seed(cell.page, {&cell.entry_point, 1}),
                            .page_for = of_public_page(cell.page, {&cell.entry_point, 1}),
                            .sides = {cell.offered ? Side::accept : Side::none},
                            .notes = cell.notes,
                            .applies = cell.applies,
                            .holds = always,
                            .reason = cell.offered ? "" : refused_product_reason});
  for (const ForeignCell& cell : foreign_cells)
    requirements.push_back({.id = cell.id,
                            .statement = cell.statement,
                            .source = {cell.page, "products"},
                            .standing = standing_of(cell.page),
                            .sides = {Side::none},
                            .applies = cell.applies,
                            .holds = always,
                            .reason = "a call names product a2 or a3, which are both training "
                                      "devices"});
  return requirements;
}

}  // namespace detail

bool supports(FlashEntryPoint entry_point, Product product) {
  return detail::cell_of(entry_point, product).offered;
}

std::string_view product_requirement(FlashEntryPoint entry_point, Product product) {
  return detail::cell_of(entry_point, product).id;
}

}  // namespace assay::spec
