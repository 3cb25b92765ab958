#pragma once

#include <algorithm>
#include <string>

#include "assay/conformance/plan/coverage.hpp"
#include "assay/conformance/suite.hpp"
#include "plan/axis_pairs.hpp"

namespace assay::conformance {

/// For a requirement that kernels need not obey, returns the reason why it needs no case.
/// `standing`: which documents or code state the requirement.
inline std::string reason_of(spec::Standing standing) {
  return std::string(spec::to_string(standing)) +
         ": the suite tries its calls, and a kernel may accept or refuse them";
}

template <class Op>
RequirementCoverage requirement_coverage(const spec::Policy& policy) {
  RequirementCoverage coverage;
  const auto& entry_points = spec::spellings_of<typename Op::EntryPoint>.entries;
  for (const auto& requirement : Op::requirements()) {
    const bool binds = std::ranges::any_of(
        entry_points, [&](const auto& entry) { return requirement.binds(entry.first, policy); });
    const bool is_asked = binds || requirement.standing == spec::Standing::open ||
                          requirement.standing == spec::Standing::advice;
    RequirementCoverage::Requirement& added =
        coverage.requirements.emplace_back(RequirementCoverage::Requirement{
            .id = std::string(requirement.id),
            .has_accept = is_asked && requirement.has(spec::Side::accept),
            .has_reject = binds && requirement.has(spec::Side::reject)});
    if (is_asked) added.reason = requirement.reason;
    const bool is_free = requirement.standing == spec::Standing::disputed ||
                         requirement.standing == spec::Standing::open;
    if (is_free && !added.has_accept && !added.has_reject)
      added.reason = reason_of(requirement.standing);
    const auto add = [&](const auto& ways) {
      for (const auto& way : ways) added.ways.push_back({added.id + ":" + std::string(way.name)});
    };
    if (is_asked) add(requirement.variants);
    if (binds) add(requirement.violations);
    for (const auto& [entry_point, name] : entry_points) {
      const bool rejects = added.has_reject && requirement.binds(entry_point, policy);
      if (requirement.is_stated_on(entry_point) && (added.has_accept || rejects))
        added.on.push_back({.entry_point = std::string(name),
                            .has_accept = added.has_accept,
                            .has_reject = rejects});
    }
  }
  return coverage;
}

template <class Op>
void count(RefusableCalls& calls, const Case<Op>& c) {
  if (!c.violate.empty()) return;
  ++calls.legal;
  const auto call = call_of(c);
  if (open_questions(c, call).empty()) return;
  ++calls.refusable;
  const auto add = [&](std::string_view id, std::string_view standing) {
    auto reason = std::ranges::find(calls.reasons, id, &RefusableCalls::Reason::id);
    if (reason == calls.reasons.end())
      reason = calls.reasons.insert(reason, {std::string(id), std::string(standing)});
    ++reason->cases;
  };
  for (const auto* requirement : not_binding(c, call))
    add(requirement->id, spec::to_string(requirement->standing_on(c.entry_point)));
  if (!supports(c.entry_point, c.product))
    add(product_requirement(c.entry_point, c.product), "not offered there");
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
  const auto choice = Suite<Op>::choice_of(c);
  if (!choice.empty()) cover(coverage, *Suite<Op>::axes(), choice);
}

}  // namespace assay::conformance
