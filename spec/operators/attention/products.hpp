#pragma once

#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "operators/attention/table.hpp"

namespace assay::spec::detail {

/// Says whether an entry point supports a product (device family), according to its documentation
/// page.
template <class Op>
struct Cell {
  typename Op::EntryPoint entry_point;
  Product product;
  std::string_view id, statement, page, notes;
  bool (*applies)(const Call<Op>& call);
  bool offered = true;
};

template <auto entry_point, Product product, class Op>
bool is_cell(const Call<Op>& c) {
  return c.entry_point == entry_point && c.product == product;
}

inline constexpr std::string_view refused_product_reason =
    "no page says which status a call on such an Atlas product returns; a sweep has cases only for "
    "Atlas products that offer the entry point";

/// Returns whether the documentation page comes from the vendor's repository and is not in the
/// first set of documentation.
inline bool is_public(std::string_view page) { return page.starts_with("ops-transformer: "); }
inline Standing standing_of(std::string_view page) {
  return is_public(page) ? Standing::page : Standing::documented;
}

/// Returns the entry of the table for an entry point and a product.
template <class Op>
const Cell<Op>& cell_of(std::span<const Cell<Op>> cells, typename Op::EntryPoint entry_point,
                        Product product) {
  for (const Cell<Op>& cell : cells)
    if (cell.entry_point == entry_point && cell.product == product) return cell;
  throw std::logic_error("no requirement says whether this Atlas product offers this entry point");
}

/// Builds the requirements about products (device families). No call can break them, because a call
/// does not contain the product on which it runs. `cells` must have static storage.
template <class Op>
std::vector<Requirement<Op>> requirements_of(std::span<const Cell<Op>> cells) {
  using Pages = std::span<const typename Op::EntryPoint>;
  std::vector<Requirement<Op>> requirements;
  for (const Cell<Op>& cell : cells) {
    const Pages page(&cell.entry_point, 1), none;
    requirements.push_back({.id = cell.id,
                            .statement = cell.statement,
                            .source = {cell.page, "products"},
                            .standing = standing_of(cell.page),
                            .stated_for = is_public(cell.page) ? none : page,
                            .page_for = is_public(cell.page) ? page : none,
                            .sides = {cell.offered ? Side::accept : Side::none},
                            .notes = cell.notes,
                            .applies = cell.applies,
                            .violations = {},
                            .reason = cell.offered ? "" : refused_product_reason});
  }
  return requirements;
}

}  // namespace assay::spec::detail
