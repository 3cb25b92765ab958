#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/spec/requirement.hpp"
#include "plan/factors.hpp"
#include "plan/pairwise.hpp"

/// Finds combinations of factor values that the documentation forbids, by evaluating the
/// requirements on random sample calls.
namespace assay::conformance {

/// Returns the ids of the requirements that forbid a case, in the order of the operator's table.
/// These are the binding requirements that its call breaks, including the one that lists the
/// products of the entry point. Requirements about which the documentation is unclear or
/// contradictory do not forbid a case. Checks only the ids in `among`; if `among` is empty, checks
/// all.
template <class Op>
std::vector<std::string_view> forbidden_by(const Case<Op>& c,
                                           std::span<const std::string_view> among = {}) {
  std::vector<std::string_view> ids;
  if (!supports(c.entry_point, c.product))
    ids.push_back(product_requirement(c.entry_point, c.product));
  const auto call = call_of(c);
  for (const auto& requirement : Op::requirements())
    if ((among.empty() || std::ranges::find(among, requirement.id) != among.end()) &&
        requirement.binds(c.entry_point, spec::Policy()) && !requirement.holds(call))
      ids.push_back(requirement.id);
  return ids;
}

/// Calls `draw`, which makes a random case, until no requirement forbids the case. If all cases are
/// forbidden, returns the last one. The CaseCollector, which receives the case, then reports the
/// error.
template <class Draw>
auto drawn_legally(Draw&& draw) {
  constexpr int draws = 64;
  auto c = draw();
  for (int k = 1; k < draws && !forbidden_by(c).empty(); ++k) c = draw();
  return c;
}

/// A function that makes a call from the chosen values and random number `lot`, and returns the
/// requirements that forbid it. It checks only the ids in `among`; if `among` is empty, it checks
/// all. Several threads may call it at the same time.
using Asking = std::function<std::vector<std::string_view>(
    const Choice& choice, std::uint64_t lot, std::span<const std::string_view> among)>;

/// Returns the choice space `sensible` with additional exclusions. A combination of values is
/// excluded if every sample call with these values breaks the same requirement. Sample calls are
/// random and avoid exclusions with fewer factors. The tested combinations are the values of one
/// factor, of two factors, and of each set of factors in `together` (factors that a requirement
/// uses together). Requirements on other sets of factors cause no exclusions: if a drawn case is
/// forbidden, another case is drawn.
ChoiceSpace with_forbidden(ChoiceSpace sensible,
                           const std::vector<std::vector<std::size_t>>& together,
                           const Asking& ask);

}  // namespace assay::conformance
