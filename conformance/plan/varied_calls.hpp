#pragma once

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/spec/requirement.hpp"

/// Calls that satisfy a requirement in a special legal way (a variant). The fields of a problem
/// cannot express a variant, so the call itself is changed.
namespace assay::conformance {

/// Returns whether the requirement of the variant applies to the call of `c`, and the call is
/// legal.
template <class Op>
bool meets(const Case<Op>& c, const spec::Requirement<Op>& requirement) {
  const auto call = call_of(c);
  if (!requirement.applies(call)) return false;
  return std::ranges::none_of(spec::violations(Op::requirements(), call), [&](const auto* broken) {
    return broken->binds(c.entry_point, spec::Policy());
  });
}

/// Tries the calls in order, starting at index `turn`. Returns the first one that is legal with the
/// variant.
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

/// The cases of all variants; their outputs are judged. For each entry point there is a list of
/// legal calls; from each list one case is made that is legal with the variant. For all entry
/// points whose page does not state the requirement there is one case together; different variants
/// use different entry points. Errors: std::logic_error with a variant that no call accepts.
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
