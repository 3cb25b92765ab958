#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "attention/bound/bound.hpp"
#include "judge/tile_sums.hpp"

/// Sums of the tiles of dq, dk, dv and their rope parts, from all pairs, block by block.
namespace assay::conformance::tiles {

struct TileRequest {
  std::uint64_t seed = 0;       ///< of the signs
  bool averages = true;         ///< false: roundings may all have one sign, only worst cases count
  double multiply_adds = 1e12;  ///< that may be spent; where all tiles need more, some are left out
};

/// Of the tensors that `attention::expectations` makes, in that order, with the same gradients and
/// tolerances from the same terms. Tiles that the request leaves out are not among those of the
/// result. Cost: a multiply-add a channel and pair, in double, on all cores.
std::vector<TileSums> tile_sums(const attention::Dense& dense, const Arithmetic& arithmetic,
                                const attention::AllRowTerms& rows, const TileRequest& request);

/// Of the gradients of a case with that seed; none where `judged` leaves no row out, else
/// `row_terms` is asked. `averages`: whether roundings are taken for independent, which those of
/// equal scores never are.
std::vector<TileSums> tile_sums_beside(
    const attention::JudgedRows& judged, const attention::Dense& dense,
    const Arithmetic& arithmetic, const std::function<const attention::AllRowTerms&()>& row_terms,
    std::uint64_t seed, bool averages);

}  // namespace assay::conformance::tiles
