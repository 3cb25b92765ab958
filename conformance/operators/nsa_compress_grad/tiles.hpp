#pragma once

#include <cstdint>
#include <vector>

#include "judge/tile_sums.hpp"
#include "operators/nsa_compress_grad/bound.hpp"

namespace assay::conformance::tiles {

/// Sums of the tiles of those gradients of NsaCompressGrad of which `judged` leaves rows out, from
/// the expectations of all rows. Cost: that of `compress::expectations`.
std::vector<TileSums> tile_sums(const compress::Dense& dense, const Arithmetic& arithmetic,
                                const compress::JudgedRows& judged, std::uint64_t seed);

}  // namespace assay::conformance::tiles
