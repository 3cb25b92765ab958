#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/conformance/judge/arithmetic.hpp"
#include "assay/conformance/judge/expectation.hpp"
#include "bilinear/operands.hpp"
#include "judge/tile_sums.hpp"

namespace assay::conformance::bilinear {

/// Returns the reference, the tolerances and the expected deviations of the errors for some rows of
/// one output. `sum`: the number of this output. `judged`: the number of its rows that are judged
/// together. conformance/README.md contains the derivation. Cost, in double on all cores: one
/// multiply-add per product, and about ten times as much if the kernel rounds products to a narrow
/// type.
Expectation expected_rows(const Operands& operands, const Arithmetic& arithmetic, std::size_t sum,
                          std::span<const std::int64_t> rows, std::size_t judged);

/// Returns the expected values and tolerances of all outputs. `judged`: the rows of each output. An
/// expectation with more than four parts is computed one part at a time, when a part is needed; the
/// result has the same bits. Therefore `operands` and `arithmetic` must outlive the result.
std::vector<Expectation> expectations(const Operands& operands, const Arithmetic& arithmetic,
                                      const std::vector<std::vector<std::int64_t>>& judged);

/// Returns the expected tile sums (signed sums of 64 rows). Only outputs with rows that are not
/// judged have tile sums. The function computes them from the expected values of all rows. Cost:
/// the same as `expected_rows` for all rows.
std::vector<TileSums> tile_sums(const Operands& operands, const Arithmetic& arithmetic,
                                const std::vector<std::vector<std::int64_t>>& judged,
                                std::uint64_t seed);

}  // namespace assay::conformance::bilinear
