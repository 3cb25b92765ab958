#pragma once

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/spec/constraint.hpp"

/// Calls that break one row of an operator's table and no other.
namespace assay::conformance {

/// Errors: std::logic_error for an unknown id.
template <class Op>
const spec::Constraint<Op>& row_of_id(std::string_view id) {
  for (const auto& row : Op::constraints())
    if (row.id == id) return row;
  throw std::logic_error("no row " + std::string(id));
}

/// Whether breaking `row` breaks row `id` with it.
template <class Op>
bool implies_row(const spec::Constraint<Op>& row, std::string_view id) {
  return std::ranges::any_of(row.implies, [&](std::string_view implied) {
    return implied == id || implies_row(row_of_id<Op>(implied), id);
  });
}

/// Whether the call that `c` makes breaks `row`, and no other row but those that it implies.
template <class Op>
bool breaks_only(const Case<Op>& c, const spec::Constraint<Op>& row) {
  const auto broken = spec::violations(Op::constraints(), call_of(c));
  bool itself = false;
  for (const auto* other : broken) {
    itself |= other->id == row.id;
    if (other->id != row.id && !implies_row(row, other->id)) return false;
  }
  return itself;
}

/// The first of `calls`, from one that `turn` chooses, in which the violation breaks its row alone.
template <class Op>
std::optional<Case<Op>> broken_call(const std::vector<Case<Op>>& calls,
                                    const spec::Constraint<Op>& row, std::string_view violation,
                                    std::size_t turn) {
  for (std::size_t k = 0; k < calls.size(); ++k) {
    Case<Op> c = calls[(turn + k) % calls.size()];
    c.product = turn % 2 != 0 && supports(c.surface, spec::Product::a3) ? spec::Product::a3
                                                                        : spec::Product::a2;
    c.track = Track::phase1;  // no numbers are due
    c.violate = std::string(row.id) + ":" + std::string(violation);
    c.note = row.statement;
    if (breaks_only(c, row)) return c;
  }
  return std::nullopt;
}

/// For every row with a reject side and each of its violations, out of each list of legal calls one
/// that breaks the row and, besides what it implies, no other. Errors: std::logic_error naming the
/// row that no call breaks so.
template <class Op>
std::vector<Case<Op>> breaking_cases(const std::vector<std::vector<Case<Op>>>& calls) {
  std::vector<Case<Op>> cases;
  std::size_t turn = 0;
  for (const auto& row : Op::constraints()) {
    if (!row.has(spec::Side::reject)) continue;
    if (row.violations.empty())
      throw std::logic_error("row " + std::string(row.id) + " has a reject side and no violation");
    for (const auto& violation : row.violations) {
      const std::size_t before = cases.size();
      for (const auto& alike : calls)
        if (const auto c = broken_call(alike, row, violation.name, turn)) cases.push_back(*c);
      ++turn;
      if (cases.size() == before)
        throw std::logic_error("no call is broken in row " + std::string(row.id) + " alone by " +
                               std::string(violation.name));
    }
  }
  return cases;
}

}  // namespace assay::conformance
