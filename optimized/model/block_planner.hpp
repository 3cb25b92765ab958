#pragma once

#include <functional>

#include "assay/device/ascend.hpp"
#include "assay/optimized/block_plan.hpp"

namespace assay::optimized {

/// The fractal edge: the extents of tiles of the matrix unit are multiples of this number.
inline constexpr std::int64_t fractal = 16;
inline constexpr std::int64_t fp32_bytes = 4;

/// A tile that needs space in an on-chip buffer.
struct Piece {
  std::string what;
  device::Bytes size;
};

/// The sizes of a problem for which plan_block chooses tiles.
struct BlockNeeds {
  std::int64_t rows, columns;  ///< of a block; multiples of the fractal edge
  std::int64_t head_dim, head_dim_rope, head_dim_v;
  std::int64_t element;  ///< bytes
  /// Returns the additional buffers of a vector core for `scores` scores. Scores, dP, their casts
  /// and the statistics are not included.
  std::function<std::vector<Piece>(std::int64_t scores)> features;
};

/// Returns the largest edge of a square block for which L0C (accumulators) can hold two blocks of
/// fp32 sums.
std::int64_t block_edge(const device::Spec& device);

/// Returns the tile sizes of a block. Errors: device::DeviceFault, naming buffer, tile and limit,
/// if even the smallest tiles do not fit.
BlockPlan plan_block(const BlockNeeds& needs, const device::Spec& device);

}  // namespace assay::optimized
