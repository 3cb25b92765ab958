#pragma once

#include <cstdint>

#include "assay/engine/blocks/operand.hpp"
#include "assay/spec/at.hpp"

namespace assay::conformance::attention {

using spec::at;

/// Equation E16. Returns the effective number of independent channels, (tr C)^2 / tr(C^2) with C =
/// X^T X. X contains at most 512 evenly spaced rows, without the channels before `first`, and `dim`
/// channels of each.
double effective_channels(const engine::Rows& rows, std::int64_t first, std::int64_t dim);

}  // namespace assay::conformance::attention
