#pragma once

#include <algorithm>
#include <string>

#include "assay/conformance/coverage.hpp"

namespace assay::conformance {

namespace detail {

/// Why no case has to exercise a row: it binds nobody, or speaks of what no call shows.
template <class Op>
std::string reason_of(const spec::Constraint<Op>& row, bool binds) {
  if (!binds || row.standing == spec::Standing::advice)
    return std::string(spec::to_string(row.standing));
  return row.has(spec::Side::content) ? "in the elements" : "outside a call";
}

}  // namespace detail

template <class Op>
RowCoverage row_coverage(spec::Upstream upstream) {
  RowCoverage coverage;
  for (const auto& row : Op::constraints()) {
    const auto& surfaces = spec::spellings_of<typename Op::Surface>.entries;
    const bool binds = std::ranges::any_of(
        surfaces, [&](const auto& entry) { return row.binds(entry.first, upstream); });
    const bool accepts = binds && row.has(spec::Side::accept),
               rejects = binds && row.has(spec::Side::reject);
    coverage.rows.push_back({.id = std::string(row.id),
                             .has_accept = accepts,
                             .has_reject = rejects,
                             .untried = accepts || rejects ? "" : detail::reason_of(row, binds)});
  }
  return coverage;
}

}  // namespace assay::conformance
