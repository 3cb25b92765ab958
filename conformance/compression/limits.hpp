#pragma once

#include <string_view>

#include "compression/problem.hpp"

namespace assay::conformance::compression {

/// Throws if the problem has no window. The documentation does not define the result for empty
/// tensors. The message names the `tensor` that would be empty and the requirement. Errors:
/// std::invalid_argument.
void require_windows(const Problem& problem, std::string_view tensor, std::string_view requirement);

}  // namespace assay::conformance::compression
