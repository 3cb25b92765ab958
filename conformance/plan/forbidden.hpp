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

/// Finds combinations of factor values that the documentation forbids. It evaluates the
/// requirements on random sample calls.
namespace assay::conformance {

/// The ids of the requirements that forbid a case, in the order of their table. They are the
/// binding requirements that its call breaks. One of them says which products offer the entry
/// point. Open or disputed requirements do not forbid a case. Checks only the ids in `among`; if
/// `among` is empty, checks all.
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

/// Draws until no requirement forbids the case. If all draws are forbidden, returns the last one,
/// and the collector of the cases reports the error.
template <class Draw>
auto drawn_legally(Draw&& draw) {
  constexpr int draws = 64;
  auto c = draw();
  for (int k = 1; k < draws && !forbidden_by(c).empty(); ++k) c = draw();
  return c;
}

/// Draws a call for the choice with the random number `lot`. Returns the requirements that forbid
/// it. Checks only the ids in `among`; if `among` is empty, checks all.
using Asking = std::function<std::vector<std::string_view>(
    const Choice& choice, std::uint64_t lot, std::span<const std::string_view> among)>;

/// Adds exclusions to a space of sensible choices. A requirement forbids a combination of values if
/// every sample call with these values breaks it. Sample calls are random and avoid exclusions with
/// fewer factors. The tested combinations are those of one factor, of two factors, and of the sets
/// of factors in `together` (factors that a requirement uses together). For requirements on other
/// sets of factors there are no exclusions: if a drawn case is forbidden, another one is drawn.
ChoiceSpace with_forbidden(ChoiceSpace sensible,
                           const std::vector<std::vector<std::size_t>>& together,
                           const Asking& ask);

}  // namespace assay::conformance
