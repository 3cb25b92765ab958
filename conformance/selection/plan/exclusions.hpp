#pragma once

#include <utility>
#include <vector>

#include "plan/forbidden.hpp"
#include "selection/plan/draws.hpp"
#include "selection/plan/factors.hpp"

/// Combinations of factor values (values of the varied properties) that are excluded, because they
/// make no sense, test nothing or cost too much.
namespace assay::conformance::selection {

template <class Op>
std::vector<Exclusion> senseless() {
  using K = Categories;
  const auto& of = factors<Op>();
  constexpr auto why = Why::senseless;
  std::vector<Exclusion> all = {
      of.rule({why,
               "The forward applies the mask before the scale: with such a scale the mask has no "
               "effect."},
              {"sparse_mode", "scale"},
              [](const K& k) {
                return k.sparse_mode == 2 && (k.scale == Scale::negative || k.scale == Scale::zero);
              }),
  };
  if (!Traits<Op>::means_mode_without_mask)
    all.insert(all.begin(),
               of.rule({why, "The meaning of mode 2 without a mask is open, see NSAS-C33a."},
                       {"sparse_mode", "mask"}, [](const K& k) {
                         return k.sparse_mode == 2 && k.mask == spec::SelectedMask::absent;
                       }));
  return all;
}

template <class Op>
std::vector<Exclusion> fruitless_and_costly() {
  using K = Categories;
  const auto& of = factors<Op>();
  std::vector<Exclusion> all = Traits<Op>::fruitless();
  const Exclusion costly[] = {
      of.rule({Why::costly,
               "A case with this number of pairs of a query row and a listed key takes seconds."},
              {"group", "heads_kv", "block_size", "block_count", "queries", "batch"},
              [](const K& k) { return fewest_entries(k) > most_entries(k); }),
      of.rule({Why::costly,
               "A case with this number of keys takes seconds, because all keys are generated and "
               "checked."},
              {"heads_kv", "block_size", "block_count", "batch"},
              [](const K& k) { return fewest_keys(k) > most_keys(k); }),
  };
  all.insert(all.end(), std::begin(costly), std::end(costly));
  return all;
}

template <class Op>
const ChoiceSpace& choice_space() {
  static const ChoiceSpace space = [] {
    ChoiceSpace sensible({factors<Op>().sizes(), attention::senseless(factors<Op>())},
                         senseless<Op>());
    const auto ask = [](const Choice& choice, std::uint64_t lot,
                        std::span<const std::string_view> among) {
      return forbidden_by(draw_case<Op>(factors<Op>().chosen(choice), 2e3, lot), among);
    };
    return ChoiceSpace(with_forbidden(std::move(sensible), {}, ask), fruitless_and_costly<Op>());
  }();
  return space;
}

template <class Op>
const Drawn<Op, Categories>& drawn() {
  static const Drawn<Op, Categories> cases{
      .factors = factors<Op>(),
      .space = choice_space<Op>(),
      .draw = draw_case<Op>,
      .cover_budgets = {2e3, 8e3, 2e4},
      .random_budgets = {2e3, 8e3, 2e4, 4e4},
      .completing_budgets = {2e3},
      .completing =
          factors<Op>().choice({{"track", "bound"}, {"profile", "normal"}, {"scale", "ordinary"}}),
      .least_cost = least_cost,
      .counts = attention::is_surely_tight};
  return cases;
}

}  // namespace assay::conformance::selection
