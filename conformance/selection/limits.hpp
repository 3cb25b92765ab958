#pragma once

#include "selection/problem.hpp"

namespace assay::conformance::selection {

/// Rejects types, heads and scales that no tensor or definition can have. Errors:
/// std::invalid_argument.
void require_sensible(const Problem& problem);

/// Number of elements of the largest tensor.
double largest_tensor(const Problem& problem);

}  // namespace assay::conformance::selection
