#pragma once

#include <string_view>

#include "compression/problem.hpp"

namespace assay::conformance::compression {

/// Requires at least one window: no document defines the result of a kernel for empty tensors. The
/// message names the `tensor` that would be empty and the requirement. Errors:
/// std::invalid_argument.
void require_windows(const Problem& problem, std::string_view tensor, std::string_view requirement);

}  // namespace assay::conformance::compression
