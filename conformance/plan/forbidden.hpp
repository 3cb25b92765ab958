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

/// What the documents forbid among the values of factors: the requirements themselves are asked, of
/// representative calls.
namespace assay::conformance {

/// The requirements that forbid a case, by their ids in the order of their table: what its call
/// breaks and binds, a product that does not offer the entry point included. What is open or
/// disputed forbids nothing. Checks only the ids in `among`, or every requirement if it is empty.
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

/// A case that no requirement forbids, drawn again where one does; what all draws break is left to
/// whoever gathers the cases, who names it.
template <class Draw>
auto drawn_legally(Draw&& draw) {
  constexpr int draws = 64;
  auto c = draw();
  for (int k = 1; k < draws && !forbidden_by(c).empty(); ++k) c = draw();
  return c;
}

/// Returns the requirements that forbid the call which `lot` draws for a choice. Checks only the
/// ids in `among`, or every requirement if it is empty.
using Asking = std::function<std::vector<std::string_view>(
    const Choice& choice, std::uint64_t lot, std::span<const std::string_view> among)>;

/// Adds to a space of sensible choices what requirements forbid: a requirement forbids values of
/// some factors together if every representative call that has them breaks it. Representatives are
/// drawn at random, and break nothing that fewer factors forbid. Asked are the values of one
/// factor, of all pairs of factors, and of the factors of `together`, on which requirements depend
/// jointly: one that is left out there forbids nothing and is met by drawing again.
ChoiceSpace with_forbidden(ChoiceSpace sensible,
                           const std::vector<std::vector<std::size_t>>& together,
                           const Asking& ask);

}  // namespace assay::conformance
