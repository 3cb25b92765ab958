#pragma once

#include "operators/flash_attention_score_grad/plan/factors.hpp"
#include "plan/draws.hpp"

namespace assay::conformance::attention::flash {

/// Draws batch and lengths of the chosen class, within about `budget` multiply-adds. Heads, head
/// sizes and masking must be set.
void draw_lengths(spec::FlashAttentionScoreGrad::Problem& problem, const Categories& chosen,
                  double budget, Draws& draws);

/// Draws pre_tokens and next_tokens, within the limits that the documents set for the lengths.
void draw_window(spec::FlashAttentionScoreGrad::Problem& problem, WindowKind window, Draws& draws);

/// Draws the fields of a case that has the chosen values, within about `budget` multiply-adds;
/// scale and seed are not drawn yet. The case may break requirements.
FlashCase draw_fields(const Categories& chosen, double budget, Draws& draws);

}  // namespace assay::conformance::attention::flash
