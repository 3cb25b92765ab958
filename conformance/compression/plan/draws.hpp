#pragma once

#include <cstdint>

#include "compression/plan/categories.hpp"
#include "plan/draws.hpp"

namespace assay::conformance::compression {

/// Makes a random problem that belongs to these categories.
Problem draw_problem(const Categories& categories, Draws& draws);

/// Makes a random problem with more than 65535 tokens in total, in sequences of any lengths.
Problem problem_with_many_tokens(std::uint64_t seed);

}  // namespace assay::conformance::compression
