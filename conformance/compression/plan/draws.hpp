#pragma once

#include <cstdint>

#include "compression/plan/categories.hpp"
#include "plan/draws.hpp"

namespace assay::conformance::compression {

/// Draws a problem with these categories.
Problem draw_problem(const Categories& categories, Draws& draws);

/// Draws a problem with more tokens than 16 bits can count, in sequences of any lengths.
Problem problem_with_many_tokens(std::uint64_t seed);

}  // namespace assay::conformance::compression
