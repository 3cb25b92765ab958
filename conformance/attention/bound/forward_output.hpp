#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "assay/engine/blocks/sweep.hpp"
#include "attention/bound/forward.hpp"

namespace assay::conformance::attention {

/// A callback that receives the sums of one output row. The number of this row is `rows[k]`.
using VisitOutput = std::function<void(std::size_t k, const engine::ElementRow& elements,
                                       const engine::RowSums& row_sums)>;

/// Equation E49. Computes the output of these query rows (ascending row numbers) and calls visit
/// for each row, from several threads. `of_rows`: the statistics of the rows. Cost: 12 matrix
/// products per block (engine/README.md).
void each_output_row(const Dense& dense, const Arithmetic& arithmetic,
                     std::span<const std::int64_t> rows, std::span<const ForwardRow> of_rows,
                     const VisitOutput& visit);

}  // namespace assay::conformance::attention
