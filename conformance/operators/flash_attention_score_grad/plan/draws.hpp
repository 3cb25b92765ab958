#pragma once

#include "operators/flash_attention_score_grad/plan/factors.hpp"
#include "plan/draws.hpp"

namespace assay::conformance::attention::flash {

/// Batch and lengths of the chosen class, within about `budget` multiply-adds. Heads, head sizes,
/// masking must be set.
void draw_lengths(spec::FlashAttentionScoreGrad::Problem& problem, const Categories& chosen,
                  double budget, Draws& draws);

/// pre_tokens and next_tokens, within what the documents allow for the lengths.
void draw_window(spec::FlashAttentionScoreGrad::Problem& problem, WindowKind window, Draws& draws);

/// The fields of a case that has the chosen values, within about `budget` multiply-adds; its scale
/// and seed are still those of any. It may break requirements.
FlashCase draw_fields(const Categories& chosen, double budget, Draws& draws);

}  // namespace assay::conformance::attention::flash
