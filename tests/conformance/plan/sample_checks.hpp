#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/plan/coverage.hpp"
#include "assay/conformance/plan/sampling.hpp"
#include "assay/conformance/plan/sizes.hpp"
#include "assay/conformance/report/record.hpp"
#include "plan/forbidden.hpp"

/// Checks properties of the planned cases of all operators.
namespace assay::conformance::testing {

/// Returns the plan of a sweep without options. The plan is made only once.
template <class Op>
const std::vector<Case<Op>>& default_cases() {
  static const auto cases = sample<Op>({});
  return cases;
}

template <class Op>
bool is_value_case(const Case<Op>& c) {
  return c.track != Track::arguments;
}

/// Parses a text such as "entry_point=u1", and stores the value u1 for the field entry_point in
/// `choice`.
inline void decide(Choice& choice, const Axes& axes, const std::string& text) {
  const std::size_t equals = text.find('=');
  const auto axis = std::ranges::find(axes.all, text.substr(0, equals), &Axis::name);
  const auto value = std::ranges::find(axis->values, text.substr(equals + 1));
  choice[static_cast<std::size_t>(axis - axes.all.begin())] =
      static_cast<std::size_t>(value - axis->values.begin());
}

/// Makes random cases with `draw(choice, lot)`, where `lot` is the seed. Calls visit(case) for
/// every case that has the two values in `cell`. Returns the number of these cases.
template <class Op, class Draw, class Visitor>
std::size_t visit_draws_of(const PairCoverage::Cell& cell, const ChoiceSpace& space, Draw&& draw,
                           Visitor&& visit) {
  constexpr std::uint64_t lots = 60;
  const Axes& all = *Suite<Op>::axes();
  Choice pair = space.open_choice();
  decide(pair, all, cell.first), decide(pair, all, cell.second);
  std::size_t visited = 0;
  for (std::uint64_t lot = 1; lot <= lots; ++lot) {
    const auto choice = random_completion(space, pair, lot);
    if (!choice) return visited;
    const Case<Op> c = draw(*choice, lot);
    const Choice values = Suite<Op>::choice_of(c);
    const auto is_held = [&](std::size_t f) {
      return pair[f] == undecided || pair[f] == values[f];
    };
    bool holds = true;
    for (std::size_t f = 0; f < all.all.size(); ++f) holds &= is_held(f);
    if (!holds) continue;
    ++visited;
    visit(c);
  }
  return visited;
}

/// Checks every combination of two values that the plan forbids. First, a call with these values
/// that is otherwise legal must violate a requirement that the combination names. This requirement
/// must be binding (neither open nor disputed). Second, no call with both values may be legal,
/// whatever its other values are.
template <class Op, class Draw>
void expect_forbidden_pairs_to_break_what_they_name(Draw&& draw) {
  const ChoiceSpace& space = Suite<Op>::axes()->space;
  const ChoiceSpace sensible =
      space.without([](const Reason& reason) { return reason.why != Why::senseless; });
  for (const auto& cell : pair_coverage<Op>().cells) {
    if (cell.forbidden_by.empty()) continue;
    const auto is_named = [&](std::string_view id) {
      return std::ranges::find(cell.forbidden_by, id) != cell.forbidden_by.end();
    };
    for (const auto& requirement : Op::requirements())
      EXPECT_FALSE(is_named(requirement.id) && (requirement.standing == spec::Standing::disputed ||
                                                requirement.standing == spec::Standing::open))
          << requirement.id;
    const ChoiceSpace others =
        space.without([&](const Reason& reason) { return is_named(reason.text); });
    EXPECT_GT(visit_draws_of<Op>(cell, others, draw,
                                 [&](const Case<Op>& c) {
                                   EXPECT_TRUE(std::ranges::any_of(forbidden_by(c), is_named))
                                       << cell.text() << " does not break "
                                       << cell.forbidden_by.front() << ": " << command_line(c);
                                 }),
              0u)
        << cell.text();
    visit_draws_of<Op>(cell, sensible, draw, [&](const Case<Op>& c) {
      EXPECT_FALSE(forbidden_by(c).empty()) << cell.text() << ": " << command_line(c);
    });
  }
}

}  // namespace assay::conformance::testing
