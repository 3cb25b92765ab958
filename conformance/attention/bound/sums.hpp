#pragma once

#include <cstdint>
#include <span>

#include "assay/engine/blocks/operand.hpp"
#include "assay/spec/at.hpp"

namespace assay::conformance::attention {

using spec::at;

/// Equation E16. Returns the effective number of independent channels, (tr C)^2 / tr(C^2) with C =
/// X^T X. X contains at most 512 evenly spaced rows.
double effective_channels(std::span<const engine::FloatRow> rows, std::int64_t dim);

}  // namespace assay::conformance::attention
