#pragma once

#include <functional>

#include "assay/device/ascend.hpp"
#include "assay/optimized/block_plan.hpp"

namespace assay::optimized {

/// Tiles of the matrix unit are multiples of this in both extents.
inline constexpr std::int64_t fractal = 16;
inline constexpr std::int64_t fp32_bytes = 4;

/// A tile that needs room in an on-chip buffer.
struct Piece {
  std::string what;
  device::Bytes size;
};

/// What a plan must make room for.
struct BlockNeeds {
  std::int64_t rows, columns;  ///< of a block, multiples of a fractal's edge
  std::int64_t head_dim, head_dim_rope, head_dim_v;
  std::int64_t element;  ///< bytes
  /// Beside scores, dP, their casts and the statistics: what a vector core holds of so many scores.
  std::function<std::vector<Piece>(std::int64_t scores)> features;
};

/// The largest edge of a block of which a device's accumulators hold two.
std::int64_t block_edge(const device::Spec& device);

/// Errors: device::DeviceFault, naming buffer, tile and limit, if not even the smallest tiles fit.
BlockPlan plan_block(const BlockNeeds& needs, const device::Spec& device);

}  // namespace assay::optimized
