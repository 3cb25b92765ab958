#pragma once

#include <cmath>
#include <cstdint>

#include "assay/conformance/attention/exact_case.hpp"
#include "assay/conformance/attention/flash.hpp"
#include "assay/reference/mask.hpp"
#include "attention/flash/plan/exclusions.hpp"
#include "plan/drawn_cases.hpp"

namespace assay::conformance::attention::flash {

/// Returns whether at least one pair of query and key stays unmasked with the user's mask of `c`.
template <class Op>
bool keeps_a_pair(const Case<Op>& c) {
  if (!may_mask_every_pair(c.problem)) return true;
  const auto mask = make_mask(c);
  return keeps_a_pair(c.problem, mask ? &*mask : nullptr);
}

/// Returns false if the user's mask of a forward case masks all keys of a query in packed
/// sequences. The documentation of forward operators excludes such calls.
template <class Op>
bool keeps_every_row(const Case<Op>& c) {
  const Problem& p = c.problem;
  if (!is_forward<Op> || !is_packed(p.input_layout) || !is_written_out(p.atten_mask)) return true;
  const auto tensor = make_mask(c);
  const reference::Mask mask(p, &*tensor);
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t n = 0; n < p.heads_q; ++n)
      for (std::int64_t i = 0; i < p.length_q(b) && p.length_kv(b) > 0; ++i) {
        bool keeps = false;
        for (std::int64_t j = 0; j < p.length_kv(b) && !keeps; ++j) keeps = mask.keeps(b, n, i, j);
        if (!keeps) return false;
      }
  return true;
}

/// Tries new random seeds until every row has an unmasked key. After a few attempts, uses an open
/// mask pattern instead.
template <class Op>
void open_rows(Case<Op>& c, Draws& draws) {
  constexpr int attempts = 8;
  for (int k = 0; k < attempts && !keeps_every_row(c); ++k)
    c.seed = static_cast<std::uint64_t>(draws.integer(1, 999999));
  if (keeps_every_row(c)) return;
  c.patterns.mask = "open";
  if (keeps_every_row(c)) return;
  c.problem.pre_tokens = c.problem.next_tokens = spec::unbounded_tokens;
}

template <class Op>
Case<Op> draw_case(const CategoriesOf<Op>& k, double budget, std::uint64_t seed) {
  Draws draws(seed);
  Case<Op> c = drawn_legally([&] { return draw_fields<Op>(k, budget, draws); });
  auto& p = c.problem;
  p.scale_value =
      k.track == Track::bound ? scale_of(k.scale, p.head_dim) : exact_case_scale(p, seed);
  do c.seed = static_cast<std::uint64_t>(draws.integer(1, 999999));
  while (!keeps_a_pair(c));
  open_rows(c, draws);
  return c;
}

/// Returns whether the judge will certainly detect the negative controls (wrong outputs on purpose,
/// such as zeros) in every head. Returns false if dq and dk may consist only of the rounding error
/// of 1/keepProb. This happens in rows with one unmasked key, and in rows of which dropout keeps or
/// drops all keys.
template <class Op>
bool is_sure_of_controls(const Case<Op>& c) {
  if (has_sink(c.entry_point)) return false;  // not an entry point of the factors
  int exponent = 0;
  const bool is_rounded = std::frexp(c.problem.keep_prob, &exponent) != 0.5;
  if (is_rounded && (c.problem.seq_kv == 1 || c.patterns.drop != "random")) return false;
  return attention::is_surely_tight(c);
}

/// Returns the combinations of factor values for the cases that complete the coverage. In these
/// cases the judge certainly detects wrong outputs (`is_sure_of_controls` is true).
template <class Op>
const ChoiceSpace& tight_choices() {
  static const ChoiceSpace space(
      choice_space<Op>(),
      {factors<Op>().rule(
          {Why::fruitless, "The gradients may consist only of the rounding error of 1/keepProb."},
          {"keep"},
          [](const Categories& k) { return k.keep == Keep::most || k.keep == Keep::tiny; })});
  return space;
}

/// Returns the rules by which random cases are made from the factors (properties of a case).
template <class Op>
const Drawn<Op, CategoriesOf<Op>>& drawn() {
  static const Drawn<Op, CategoriesOf<Op>> cases{
      .factors = factors<Op>(),
      .space = choice_space<Op>(),
      .draw = draw_case<Op>,
      .cover_budgets = {2e5, 1e6, 3e6},
      .random_budgets = {5e5, 2e6, 8e6, 2e7},
      .completing_budgets = {2e5},
      .completing =
          factors<Op>().choice({{"track", "bound"}, {"profile", "normal"}, {"scale", "ordinary"}}),
      .completing_space = &tight_choices<Op>(),
      .counts = is_sure_of_controls<Op>};
  return cases;
}

}  // namespace assay::conformance::attention::flash
