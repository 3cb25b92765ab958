#pragma once

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/spec/requirement.hpp"

/// Calls that use a variant (a special legal way to satisfy a requirement). The fields of a problem
/// cannot express a variant, so the call itself is changed.
namespace assay::conformance {

/// Returns whether the requirement applies to the call of `c` with its variant (special legal way),
/// and the call is legal.
template <class Op>
bool meets(const Case<Op>& c, const spec::Requirement<Op>& requirement) {
  const auto call = call_of(c);
  if (!requirement.applies(call)) return false;
  return std::ranges::none_of(spec::violations(Op::requirements(), call), [&](const auto* broken) {
    return broken->binds(c.entry_point, spec::Policy());
  });
}

/// Applies the variant (special legal way) to the calls one after the other, starting at index
/// `turn`. Returns the first call that is then legal.
template <class Op>
std::optional<Case<Op>> varied_call(const std::vector<Case<Op>>& calls,
                                    const spec::Requirement<Op>& requirement,
                                    std::string_view variant, std::size_t turn) {
  for (std::size_t k = 0; k < calls.size(); ++k) {
    Case<Op> c = calls[(turn + k) % calls.size()];
    c.product = turn % 2 != 0 && supports(c.entry_point, spec::Product::a3) ? spec::Product::a3
                                                                            : spec::Product::a2;
    c.track = Track::bound;
    c.variant = std::string(requirement.id) + ":" + std::string(variant);
    c.note = requirement.statement;
    if (meets(c, requirement)) return c;
  }
  return std::nullopt;
}

/// Returns cases for all variants (special legal ways to satisfy a requirement); their outputs are
/// judged. `calls` has a list of legal calls for each entry point. Each entry point with a page
/// that states the requirement gets one case. All other entry points together get one case, and
/// different variants use different entry points for it. Errors: std::logic_error with a variant
/// that no call accepts.
template <class Op>
std::vector<Case<Op>> varied_cases(const std::vector<std::vector<Case<Op>>>& calls) {
  std::vector<Case<Op>> cases;
  std::size_t turn = 0;
  for (const auto& requirement : Op::requirements())
    for (const auto& variant : requirement.variants) {
      const std::size_t before = cases.size(), first = turn++;
      bool elsewhere = false;
      for (std::size_t k = 0; k < calls.size(); ++k) {
        const auto& alike = calls[(first + k) % calls.size()];
        const bool is_elsewhere =
            requirement.standing_on(alike.front().entry_point) != requirement.standing;
        if (elsewhere && is_elsewhere) continue;
        const auto c = varied_call(alike, requirement, variant.name, first + k);
        if (!c) continue;
        cases.push_back(*c);
        elsewhere = elsewhere || is_elsewhere;
      }
      if (cases.size() == before)
        throw std::logic_error("no call accepts the variant " + std::string(requirement.id) + ":" +
                               std::string(variant.name));
    }
  return cases;
}

}  // namespace assay::conformance
