#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "attention/bound/bound.hpp"
#include "judge/tile_sums.hpp"

/// Sums the rows of each tile of dq, dk, dv and their rope parts, block by block over all pairs.
namespace assay::conformance::tiles {

struct TileRequest {
  std::uint64_t seed = 0;       ///< seed of the signs
  bool averages = true;         ///< false: roundings may share one sign; only worst cases count
  double multiply_adds = 1e12;  ///< budget; if all tiles need more, some are left out
};

/// Returns the tile sums (sums of the rows of each tile) of the tensors in
/// `attention::expectations`, in the same order and with the same error terms. Contains only the
/// requested tiles. Cost: one multiply-add per channel and pair, in double, on all cores.
std::vector<TileSums> tile_sums(const attention::Dense& dense, const Arithmetic& arithmetic,
                                const attention::AllRowTerms& rows, const TileRequest& request);

/// Returns the sum of the rows of each tile, for all gradients of a case. Each row has a random
/// sign from this seed. If all rows are in `judged`, returns no sums and does not call `row_terms`.
/// `averages`: true if roundings count as independent, except those of equal scores.
std::vector<TileSums> tile_sums_with(
    const attention::JudgedRows& judged, const attention::Dense& dense,
    const Arithmetic& arithmetic, const std::function<const attention::AllRowTerms&()>& row_terms,
    std::uint64_t seed, bool averages);

}  // namespace assay::conformance::tiles
