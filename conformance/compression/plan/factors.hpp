#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/plan/sizes.hpp"
#include "compression/plan/draws.hpp"
#include "compression/profiles.hpp"
#include "compression/traits.hpp"
#include "plan/drawn_cases.hpp"
#include "plan/factors.hpp"
#include "plan/forbidden.hpp"
#include "plan/stridings.hpp"

/// The factors (properties that the test plan varies) of an operator, and the random cases made
/// from them.
namespace assay::conformance::compression {

/// The legal values of the factor `overlap`, and the profiles (distributions of the input values)
/// that the factor `profile` may have in random cases.
template <class Op>
Named<Overlap> drawn_overlaps() {
  auto named = in_order<Overlap>({"part", "two", "few", "odd", "many", "none"});
  if (!Traits<Op>::may_lack_overlap) named.pop_back();
  return named;
}
template <class Op>
Named<std::string_view> drawn_profiles() {
  Named<std::string_view> named;
  for (const Profile& profile : Traits<Op>::profiles())
    if (profile.is_drawn) named.emplace_back(profile.name, profile.name);
  return named;
}

/// Returns the table of all factors (properties that the test plan varies).
template <class Op>
const Factors<Op, Categories>& factors() {
  using F = Factors<Op, Categories>;
  using K = Categories;
  static const F table({
      F::axis("dtype", &K::dtype, only({spec::DType::fp16, spec::DType::bf16}),
              [](const Case<Op>& c) { return c.problem.dtype; }),
      F::axis("heads", &K::heads, in_order<Heads>({"one", "few", "many"}),
              [](const Case<Op>& c) { return heads_of(c.problem); }),
      F::axis("head_dim", &K::head_dim, in_order<HeadDim>({"least", "narrow", "wide", "widest"}),
              [](const Case<Op>& c) { return head_dim_of(c.problem); }),
      F::axis(
          "overlap", &K::overlap, drawn_overlaps<Op>(),
          [](const Case<Op>& c) { return overlap_of(c.problem, Traits<Op>::may_lack_overlap); }),
      F::axis(
          "lengths", &K::lengths,
          in_order<LengthsKind>({"one_window", "single", "many", "leading_empty", "repeated",
                                 "short_first", "short_last", "short_middle", "equal", "unequal"}),
          [](const Case<Op>& c) { return lengths_of(c.problem); }),
      F::axis("tail", &K::tail, in_order<Tail>({"none", "some"}),
              [](const Case<Op>& c) { return tail_of(c.problem); }),
      F::axis("windows", &K::amount, in_order<Amount>({"few", "beyond_64"}),
              [](const Case<Op>& c) { return amount_of(c.problem); }),
      F::axis("inputs", &K::inputs, drawn_stridings(),
              [](const Case<Op>& c) { return drawn_striding_of(c.inputs); }),
      F::axis("outputs", &K::outputs, drawn_stridings(),
              [](const Case<Op>& c) { return drawn_striding_of(c.outputs); }),
      F::drawn("track", &K::track, only({Track::bound, Track::exact, Track::exact_staged})),
      F::drawn("profile", &K::profile, drawn_profiles<Op>()),
  });
  return table;
}

/// Makes a random case that belongs to the categories.
template <class Op>
Case<Op> draw_case(const Categories& k, std::uint64_t seed) {
  Draws draws(seed);
  Case<Op> c{.inputs = k.inputs,
             .outputs = k.outputs,
             .track = k.track,
             .profile = std::string(k.profile)};
  c.problem = draw_problem(k, draws);
  c.seed = static_cast<std::uint64_t>(draws.integer(1, 999999));
  return c;
}

template <class Op>
std::vector<Exclusion> fruitless_and_costly() {
  const auto& of = factors<Op>();
  std::vector<Exclusion> all = {of.rule(
      {Why::costly, "The case takes seconds and tests no more than a case with fewer channels."},
      {"heads", "head_dim", "lengths", "windows"}, is_costly)};
  if (!Traits<Op>::sparse_profile.empty())
    all.insert(all.begin(), of.rule({Why::fruitless, Traits<Op>::sparse_sentence},
                                    {"heads", "windows", "profile"}, [](const Categories& k) {
                                      return k.profile == Traits<Op>::sparse_profile &&
                                             k.heads != Heads::many && k.amount == Amount::few;
                                    }));
  return all;
}

/// Returns all factors (varied properties) and the combinations of values that are excluded. Built
/// once.
template <class Op>
const ChoiceSpace& choice_space() {
  static const ChoiceSpace space = [] {
    const auto& of = factors<Op>();
    const auto ask = [&of](const Choice& choice, std::uint64_t lot,
                           std::span<const std::string_view> among) {
      return forbidden_by(draw_case<Op>(of.chosen(choice), lot), among);
    };
    const Exclusion senseless = of.rule(
        {Why::senseless, "An exact case chooses its values itself."}, {"track", "profile"},
        [](const Categories& k) { return k.track != Track::bound && k.profile != "normal"; });
    return ChoiceSpace(with_forbidden({of.sizes(), {senseless}}, {}, ask),
                       fruitless_and_costly<Op>());
  }();
  return space;
}

/// Returns the rules by which random cases are made from the factors (varied properties).
template <class Op>
const Drawn<Op, Categories>& drawn() {
  static const Drawn<Op, Categories> cases{
      .factors = factors<Op>(),
      .space = choice_space<Op>(),
      .draw = [](const Categories& k, double, std::uint64_t lot) { return draw_case<Op>(k, lot); },
      .completing = factors<Op>().choice({{"track", "bound"}})};
  return cases;
}

}  // namespace assay::conformance::compression
