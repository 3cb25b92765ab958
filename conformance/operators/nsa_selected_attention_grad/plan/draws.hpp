#pragma once

#include "case/lengths.hpp"
#include "operators/nsa_selected_attention_grad/plan/factors.hpp"

namespace assay::conformance::selected {

/// Numbers of pairs of query row and listed key: the fewest that a case of this choice can have,
/// and the most that are affordable. More are affordable in a long sequence of one head, of which
/// only some rows are judged.
double fewest_entries(const Categories& chosen);
double most_entries(const Categories& chosen);
/// The same two numbers for keys, of all heads and sequences together. All keys are generated,
/// multiplied and checked.
double fewest_keys(const Categories& chosen);
double most_keys(const Categories& chosen);

/// Draws a case of the categories with about `budget` pairs of query row and listed key, as far as
/// the categories allow this.
SelectedCase draw_case(const Categories& chosen, double budget, std::uint64_t seed);

/// Returns a scale_value that the exact case accepts. With a mask it is positive, since the forward
/// applies the mask before it scales.
double exact_scale(const Op::Problem& problem, std::uint64_t seed);

}  // namespace assay::conformance::selected
