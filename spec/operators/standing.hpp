#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "assay/spec/requirement.hpp"

/// Functions that set which source states a requirement (for example the documentation or the
/// vendor's code), and which other requirements it implies. Row is the type of a requirement, or of
/// the members that name its source.
namespace assay::spec {

template <class Row>
Row of_standing(Standing standing, Row row, std::string_view notes = {}) {
  row.standing = standing;
  if (!notes.empty()) row.notes = notes;
  return row;
}

/// Marks the requirements `ids` as implied: every call that breaks this requirement breaks them,
/// too.
template <class Row>
Row implying(Row row, std::vector<std::string_view> ids) {
  row.implies = std::move(ids);
  return row;
}

}  // namespace assay::spec
