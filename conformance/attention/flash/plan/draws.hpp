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

/// Chooses a random batch size and random lengths of the given class, so that the case needs at
/// most about `budget` multiply-adds. Heads, head sizes and masking must be set before.
void draw_lengths(spec::AttentionProblem& problem, const Categories& chosen, double budget,
                  Draws& draws);

/// Chooses random pre_tokens and next_tokens within the documented limits for these lengths.
void draw_window(spec::AttentionProblem& problem, WindowKind window, Draws& draws);

/// Makes a random problem with the chosen factor values and at most about `budget` multiply-adds.
/// Does not set scale_value. `rope`: the entry point has rope tensors.
spec::AttentionProblem draw_problem(const Categories& chosen, bool rope, double budget,
                                    Draws& draws);

/// Chooses random fields of a case, with the chosen factor values and at most about `budget`
/// multiply-adds. Does not set scale and seed. The case may violate requirements.
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

/// Returns the number of multiply-adds of one matrix product over all pairs of query and key,
/// masked pairs included.
double multiply_adds(const spec::AttentionProblem& problem);

/// Returns whether the user's mask leaves at least one pair of query and key unmasked. Only small
/// random masks can mask all pairs, so larger masks are not checked.
bool keeps_a_pair(const spec::AttentionProblem& problem, const spec::Tensor* mask);
/// Returns whether the mask of this problem is small enough to mask all pairs, so that
/// `keeps_a_pair` must check it.
bool may_mask_every_pair(const spec::AttentionProblem& problem);

}  // namespace assay::conformance::attention::flash
