#pragma once

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/spec/constraint.hpp"

/// Calls that meet a row of an operator's table in a way for which no problem asks.
namespace assay::conformance {

/// Whether the row of the variant speaks of the call that `c` makes, and the call is legal.
template <class Op>
bool meets(const Case<Op>& c, const spec::Constraint<Op>& row) {
  const auto call = call_of(c);
  if (!row.applies(call)) return false;
  return std::ranges::none_of(spec::violations(Op::constraints(), call), [&](const auto* broken) {
    return broken->binds(c.surface, spec::Upstream::on);
  });
}

/// The first of `calls`, from one that `turn` chooses, that the variant leaves legal.
template <class Op>
std::optional<Case<Op>> varied_call(const std::vector<Case<Op>>& calls,
                                    const spec::Constraint<Op>& row, std::string_view variant,
                                    std::size_t turn) {
  for (std::size_t k = 0; k < calls.size(); ++k) {
    Case<Op> c = calls[(turn + k) % calls.size()];
    c.product = turn % 2 != 0 && supports(c.surface, spec::Product::a3) ? spec::Product::a3
                                                                        : spec::Product::a2;
    c.track = Track::bound;
    c.variant = std::string(row.id) + ":" + std::string(variant);
    c.note = row.statement;
    if (meets(c, row)) return c;
  }
  return std::nullopt;
}

/// For every variant of a row, out of each list of legal calls, those of one entry point, one that
/// it leaves legal, with numbers; of the entry points on whose pages the row is no sentence, one in
/// turn. Errors: std::logic_error naming the variant that no call takes.
template <class Op>
std::vector<Case<Op>> varied_cases(const std::vector<std::vector<Case<Op>>>& calls) {
  std::vector<Case<Op>> cases;
  std::size_t turn = 0;
  for (const auto& row : Op::constraints())
    for (const auto& variant : row.variants) {
      const std::size_t before = cases.size(), first = turn++;
      bool elsewhere = false;
      for (std::size_t k = 0; k < calls.size(); ++k) {
        const auto& alike = calls[(first + k) % calls.size()];
        const bool is_elsewhere = row.standing_on(alike.front().surface) != row.standing;
        if (elsewhere && is_elsewhere) continue;
        const auto c = varied_call(alike, row, variant.name, first + k);
        if (!c) continue;
        cases.push_back(*c);
        elsewhere = elsewhere || is_elsewhere;
      }
      if (cases.size() == before)
        throw std::logic_error("no call has room for " + std::string(row.id) + ":" +
                               std::string(variant.name));
    }
  return cases;
}

}  // namespace assay::conformance
