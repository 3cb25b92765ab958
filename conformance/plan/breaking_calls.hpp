#pragma once

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/spec/requirement.hpp"

/// Functions that make calls which break one requirement of an operator and no other.
namespace assay::conformance {

/// Returns the requirement with this id. Errors: std::logic_error for an unknown id.
template <class Op>
const spec::Requirement<Op>& requirement_of_id(std::string_view id) {
  for (const auto& requirement : Op::requirements())
    if (requirement.id == id) return requirement;
  throw std::logic_error("no requirement " + std::string(id));
}

/// Returns whether a call that breaks `requirement` also breaks requirement `id`.
template <class Op>
bool implies_requirement(const spec::Requirement<Op>& requirement, std::string_view id) {
  return std::ranges::any_of(requirement.implies, [&](std::string_view implied) {
    return implied == id || implies_requirement(requirement_of_id<Op>(implied), id);
  });
}

/// Returns whether the call of `c` breaks only `requirement`. Requirements that follow from it may
/// be broken too.
template <class Op>
bool breaks_only(const Case<Op>& c, const spec::Requirement<Op>& requirement) {
  const auto call = call_of(c);
  return !requirement.holds(call) &&
         std::ranges::all_of(Op::requirements(), [&](const spec::Requirement<Op>& other) {
           return other.id == requirement.id || implies_requirement(requirement, other.id) ||
                  other.holds(call);
         });
}

/// Applies the violation (a named way to break a requirement) to the calls one after the other,
/// starting at index `turn`. Returns the first call that then breaks only this requirement.
template <class Op>
std::optional<Case<Op>> broken_call(const std::vector<Case<Op>>& calls,
                                    const spec::Requirement<Op>& requirement,
                                    std::string_view violation, std::size_t turn) {
  for (std::size_t k = 0; k < calls.size(); ++k) {
    Case<Op> c = calls[(turn + k) % calls.size()];
    c.product = turn % 2 != 0 && supports(c.entry_point, spec::Product::a3) ? spec::Product::a3
                                                                            : spec::Product::a2;
    c.track = Track::arguments;  // only the call is judged
    c.violate = std::string(requirement.id) + ":" + std::string(violation);
    c.note = requirement.statement;
    if (breaks_only(c, requirement)) return c;
  }
  return std::nullopt;
}

/// Returns cases that break a requirement, for all requirements that a kernel must enforce
/// (Side::reject). There is one case for each violation (named way to break the requirement) and
/// each list of legal calls. A case breaks only this requirement and those that follow from it.
/// `is_wanted`: returns false to skip a requirement. Errors: std::logic_error with a requirement
/// that no call breaks in this way.
template <class Op>
std::vector<Case<Op>> breaking_cases(
    const std::vector<std::vector<Case<Op>>>& calls,
    bool (*is_wanted)(const spec::Requirement<Op>&) = [](const spec::Requirement<Op>&) {
      return true;
    }) {
  std::vector<Case<Op>> cases;
  std::size_t turn = 0;
  for (const auto& requirement : Op::requirements()) {
    if (!requirement.has(spec::Side::reject) || !is_wanted(requirement)) continue;
    if (requirement.violations.empty())
      throw std::logic_error("requirement " + std::string(requirement.id) +
                             " must be tested with forbidden calls, but lists no violation");
    for (const auto& violation : requirement.violations) {
      const std::size_t before = cases.size();
      for (const auto& alike : calls)
        if (const auto c = broken_call(alike, requirement, violation.name, turn))
          cases.push_back(*c);
      ++turn;
      if (cases.size() == before)
        throw std::logic_error("no call breaks only requirement " + std::string(requirement.id) +
                               " by " + std::string(violation.name));
    }
  }
  return cases;
}

}  // namespace assay::conformance
