#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "assay/engine/blocks/sweep.hpp"
#include "attention/bound/forward.hpp"

namespace assay::conformance::attention {

/// Receives the sums for row `rows[k]` of the output.
using VisitOutput = std::function<void(std::size_t k, const engine::ElementRow& elements,
                                       const engine::RowSums& row_sums)>;

/// E49. Calls visit for each of these query rows (ascending numbers of Extents::row), from several
/// threads; `of_rows`: their statistics. Cost: 12 matrix products per block (engine/README.md).
void each_output_row(const Dense& dense, const Arithmetic& arithmetic,
                     std::span<const std::int64_t> rows, std::span<const ForwardRow> of_rows,
                     const VisitOutput& visit);

}  // namespace assay::conformance::attention
