#pragma once

#include <cstdint>

#include "assay/spec/layout.hpp"

namespace assay::conformance::attention {

/// Returns whether `holds(b, n, s)` is true for at least one of 61 evenly spaced rows (or fewer).
/// These rows suffice to detect the effect of a field, because no field changes only one row.
template <class Holds>
bool any_row(const spec::Extents& extents, const Holds& holds) {
  constexpr std::int64_t most_rows = 61;
  const std::int64_t step = (extents.rows() + most_rows - 1) / most_rows;
  for (std::int64_t row = 0; row < extents.rows(); row += step) {
    const auto [b, n, s] = extents.position(row);
    if (holds(b, n, s)) return true;
  }
  return false;
}

}  // namespace assay::conformance::attention
