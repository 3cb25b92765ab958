#pragma once

#include <algorithm>
#include <string>

#include "assay/conformance/plan/coverage.hpp"
#include "assay/conformance/suite.hpp"
#include "plan/axis_pairs.hpp"

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

template <class Op>
PairCoverage pair_coverage() {
  const Axes* axes = Suite<Op>::axes();
  if (axes == nullptr) return {};
  static const PairCoverage blank = blank_coverage(*axes);
  return blank;
}

template <class Op>
void cover(PairCoverage& coverage, const Case<Op>& c) {
  if (c.track == Track::phase1 || !c.violate.empty() || Suite<Op>::axes() == nullptr) return;
  cover(coverage, *Suite<Op>::axes(), Suite<Op>::choice_of(c));
}

}  // namespace assay::conformance
