#pragma once

#include <functional>

#include "assay/optimized/traffic.hpp"

namespace assay::optimized {

/// What a block of scores moves, what is moved once for a record of blocks under one key tile, and
/// what once for a key tile.
struct BlockTraffic {
  Traffic block, record, key_tile;
};

/// How many there are of each, of all heads and sequences.
struct BlockCounts {
  std::int64_t blocks, records, key_tiles;
};

/// What the traffic of a block depends on beside its plan.
struct BlockOperands {
  std::int64_t query_rows;  ///< of query and dy that are read for a block: not more than it has
  std::int64_t head_dim, head_dim_rope, head_dim_v;
  std::int64_t element;  ///< bytes
  /// What a vector core reads for so many rows beside scores, dP and statistics.
  std::function<device::Bytes(std::int64_t rows)> features;
};

BlockTraffic traffic_of(const BlockOperands& operands, const BlockPlan& plan);
Traffic operator*(const BlockCounts& counts, const BlockTraffic& traffic);

}  // namespace assay::optimized
