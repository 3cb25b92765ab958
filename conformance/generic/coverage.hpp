#pragma once

#include <algorithm>
#include <string>

#include "assay/conformance/coverage.hpp"

namespace assay::conformance {

template <class Op>
RowCoverage row_coverage(spec::Upstream upstream) {
  RowCoverage coverage;
  for (const auto& row : Op::constraints()) {
    const auto& surfaces = spec::spellings_of<typename Op::Surface>.entries;
    const bool binds = std::ranges::any_of(
        surfaces, [&](const auto& entry) { return row.binds(entry.first, upstream); });
    coverage.rows.push_back({.id = std::string(row.id),
                             .has_accept = binds && row.has(spec::Side::accept),
                             .has_reject = binds && row.has(spec::Side::reject)});
  }
  return coverage;
}

}  // namespace assay::conformance
