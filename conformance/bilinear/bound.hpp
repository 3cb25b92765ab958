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

/// Returns reference, tolerances and moments of some rows of output `sum`; conformance/README.md
/// contains the derivation. `judged`: the number of rows of this output that are judged together.
/// Cost, in double on all cores: one multiply-add per product, and about ten times as much if
/// products are rounded to a type.
Expectation expected_rows(const Operands& operands, const Arithmetic& arithmetic, std::size_t sum,
                          std::span<const std::int64_t> rows, std::size_t judged);

/// Returns the expectations of all outputs, for these rows of each. A tensor of more than four
/// parts is computed part by part, with the same bits, so `operands` and `arithmetic` must outlive
/// the expectation.
std::vector<Expectation> expectations(const Operands& operands, const Arithmetic& arithmetic,
                                      const std::vector<std::vector<std::int64_t>>& judged);

/// Returns the expected tile sums (sums of the rows of a tile), computed from the expectations of
/// all rows, for those outputs of which only some rows are judged. Cost: as for `expected_rows`.
std::vector<TileSums> tile_sums(const Operands& operands, const Arithmetic& arithmetic,
                                const std::vector<std::vector<std::int64_t>>& judged,
                                std::uint64_t seed);

}  // namespace assay::conformance::bilinear
