#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "assay/spec/requirement.hpp"

/// Functions that change where a requirement stands. Row is a requirement, or the members of one
/// that say where the documentation states it.
namespace assay::spec {

template <class Row>
Row of_standing(Standing standing, Row row, std::string_view notes = {}) {
  row.standing = standing;
  if (!notes.empty()) row.notes = notes;
  return row;
}

/// `ids`: the requirements that are broken whenever this one is broken.
template <class Row>
Row implying(Row row, std::vector<std::string_view> ids) {
  row.implies = std::move(ids);
  return row;
}

}  // namespace assay::spec
