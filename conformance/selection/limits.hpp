#pragma once

#include "selection/problem.hpp"

namespace assay::conformance::selection {

/// Rejects types, numbers of heads and scales for which tensors or expected values cannot exist.
/// Errors: std::invalid_argument.
void require_sensible(const Problem& problem);

/// Returns the number of elements of the largest tensor.
double largest_tensor(const Problem& problem);

}  // namespace assay::conformance::selection
