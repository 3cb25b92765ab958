#pragma once

#include <algorithm>
#include <string>

#include "assay/conformance/plan/coverage.hpp"

namespace assay::conformance {

template <class Op>
RowCoverage row_coverage(spec::Upstream upstream) {
  RowCoverage coverage;
  for (const auto& row : Op::constraints()) {
    const auto& surfaces = spec::spellings_of<typename Op::Surface>.entries;
    const bool binds = std::ranges::any_of(
        surfaces, [&](const auto& entry) { return row.binds(entry.first, upstream); });
    RowCoverage::Row& added = coverage.rows.emplace_back(
        RowCoverage::Row{.id = std::string(row.id),
                         .has_accept = binds && row.has(spec::Side::accept),
                         .has_reject = binds && row.has(spec::Side::reject)});
    if (binds) added.reason = row.reason;
    if (row.standing == spec::Standing::disputed)
      added.reason = "disputed: its calls are asked for, and either answer stands";
    if (!binds) continue;
    const auto add = [&](const auto& ways) {
      for (const auto& way : ways) added.ways.push_back({added.id + ":" + std::string(way.name)});
    };
    add(row.variants);
    add(row.violations);
  }
  return coverage;
}

}  // namespace assay::conformance
