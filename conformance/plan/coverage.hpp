#pragma once

#include <algorithm>
#include <string>

#include "assay/conformance/plan/coverage.hpp"
#include "assay/conformance/suite.hpp"
#include "plan/axis_pairs.hpp"

namespace assay::conformance {

template <class Op>
RequirementCoverage requirement_coverage(spec::Upstream upstream) {
  RequirementCoverage coverage;
  for (const auto& requirement : Op::requirements()) {
    const auto& entry_points = spec::spellings_of<typename Op::EntryPoint>.entries;
    const bool binds = std::ranges::any_of(
        entry_points, [&](const auto& entry) { return requirement.binds(entry.first, upstream); });
    RequirementCoverage::Requirement& added =
        coverage.requirements.emplace_back(RequirementCoverage::Requirement{
            .id = std::string(requirement.id),
            .has_accept = binds && requirement.has(spec::Side::accept),
            .has_reject = binds && requirement.has(spec::Side::reject)});
    if (binds) added.reason = requirement.reason;
    if (requirement.standing == spec::Standing::disputed)
      added.reason = "disputed: its calls are asked for, and either answer stands";
    if (!binds) continue;
    const auto add = [&](const auto& ways) {
      for (const auto& way : ways) added.ways.push_back({added.id + ":" + std::string(way.name)});
    };
    add(requirement.variants);
    add(requirement.violations);
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
  if (c.track == Track::arguments || !c.violate.empty() || Suite<Op>::axes() == nullptr) return;
  cover(coverage, *Suite<Op>::axes(), Suite<Op>::choice_of(c));
}

}  // namespace assay::conformance
