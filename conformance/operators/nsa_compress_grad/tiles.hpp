#pragma once

#include <cstdint>
#include <vector>

#include "judge/tile_sums.hpp"
#include "operators/nsa_compress_grad/bound.hpp"

namespace assay::conformance::tiles {

/// Returns expected tile sums, computed from the expectations of all rows, for those gradients of
/// NsaCompressGrad of which only some rows are judged. Cost: that of `compress::expectations`.
std::vector<TileSums> tile_sums(const compress::Dense& dense, const Arithmetic& arithmetic,
                                const compress::JudgedRows& judged, std::uint64_t seed);

}  // namespace assay::conformance::tiles
