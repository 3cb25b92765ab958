#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "attention/bound/bound.hpp"
#include "judge/tile_sums.hpp"

/// The sums of the tiles of dq, dk, dv and their rope parts over all pairs, computed block by
/// block.
namespace assay::conformance::tiles {

struct TileRequest {
  std::uint64_t seed = 0;       ///< seed of the signs
  bool averages = true;         ///< false: roundings may share one sign; only worst cases count
  double multiply_adds = 1e12;  ///< budget; if all tiles need more, some are left out
};

/// Returns the sums for the same tensors as `attention::expectations`, in the same order, from the
/// same gradients and error terms. Contains only the tiles of the request. Cost: one multiply-add
/// per channel and pair, in double, on all cores.
std::vector<TileSums> tile_sums(const attention::Dense& dense, const Arithmetic& arithmetic,
                                const attention::AllRowTerms& rows, const TileRequest& request);

/// Returns the tile sums of the gradients of a case, with signs from this seed. Returns no sums,
/// without calling `row_terms`, if all rows are in `judged`. `averages`: true if roundings count as
/// independent, except those of equal scores.
std::vector<TileSums> tile_sums_with(
    const attention::JudgedRows& judged, const attention::Dense& dense,
    const Arithmetic& arithmetic, const std::function<const attention::AllRowTerms&()>& row_terms,
    std::uint64_t seed, bool averages);

}  // namespace assay::conformance::tiles
