#pragma once

#include "case/lengths.hpp"
#include "operators/nsa_selected_attention_grad/plan/factors.hpp"

namespace assay::conformance::selected {

/// The least pairs of query row and listed key that a choice can have, and how many are affordable:
/// a long sequence of one head is judged on some of its rows.
double fewest_entries(const Categories& chosen);
double most_entries(const Categories& chosen);
/// The least keys of all heads and sequences, and how many are affordable: all of them are made,
/// multiplied and checked.
double fewest_keys(const Categories& chosen);
double most_keys(const Categories& chosen);

/// A case of the categories with about `budget` such pairs, as far as they allow.
SelectedCase draw_case(const Categories& chosen, double budget, std::uint64_t seed);

/// A scale_value that the exact case takes; positive under the mask, which the forward otherwise
/// loses.
double exact_scale(const Op::Problem& problem, std::uint64_t seed);

}  // namespace assay::conformance::selected
