#pragma once

#include <cstdint>
#include <string>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/inputs/random.hpp"
#include "assay/spec/attention_problem.hpp"
#include "attention/flash/plan/categories.hpp"
#include "attention/flash/traits.hpp"
#include "plan/draws.hpp"

namespace assay::conformance::attention::flash {

/// Draws batch and lengths of the chosen class, so that the case needs at most about `budget`
/// multiply-adds. Heads, head sizes and masking must already be set.
void draw_lengths(spec::AttentionProblem& problem, const Categories& chosen, double budget,
                  Draws& draws);

/// Draws pre_tokens and next_tokens, within the limits that the documents set for the lengths.
void draw_window(spec::AttentionProblem& problem, WindowKind window, Draws& draws);

/// Draws a problem that has the chosen values, within about `budget` multiply-adds; scale_value is
/// not drawn. `rope`: the entry point has rope tensors.
spec::AttentionProblem draw_problem(const Categories& chosen, bool rope, double budget,
                                    Draws& draws);

/// Draws the fields of a case that has the chosen values, within about `budget` multiply-adds;
/// scale and seed are not drawn yet. The case may break requirements.
template <class Op>
Case<Op> draw_fields(const CategoriesOf<Op>& k, double budget, Draws& draws) {
  Case<Op> c{.entry_point = k.entry_point,
             .product = k.product,
             .inputs = k.inputs,
             .outputs = k.outputs,
             .track = k.track,
             .profile = std::string(k.profile),
             .patterns = {.mask = std::string(k.pattern), .drop = std::string(k.drop)}};
  Categories chosen = k;
  chosen.limits_lengths = is_forward<Op>;
  c.problem = draw_problem(chosen, has_rope(k.entry_point), budget, draws);
  return c;
}

/// Returns the multiply-adds of one matrix product over all pairs of query and key, masked pairs
/// included.
double multiply_adds(const spec::AttentionProblem& problem);

/// Returns whether `mask`, the user's mask of the problem, leaves a pair of query and key unmasked.
/// Only small random masks can mask all pairs, so larger masks are not checked.
bool keeps_a_pair(const spec::AttentionProblem& problem, const spec::Tensor* mask);
/// Returns whether `keeps_a_pair` may check a mask of this problem, because the mask can be small
/// enough.
bool may_mask_every_pair(const spec::AttentionProblem& problem);

}  // namespace assay::conformance::attention::flash
