#pragma once

#include <functional>

#include "assay/optimized/traffic.hpp"

namespace assay::optimized {

/// Traffic of one block of scores, of one record of blocks under a key tile, and of one key tile.
struct BlockTraffic {
  Traffic block, record, key_tile;
};

/// How many there are of each, of all heads and sequences.
struct BlockCounts {
  std::int64_t blocks, records, key_tiles;
};

/// Sizes that determine the traffic of a block, in addition to its plan.
struct BlockOperands {
  std::int64_t query_rows;  ///< of query and dy that are read for a block: not more than it has
  std::int64_t head_dim, head_dim_rope, head_dim_v;
  std::int64_t element;  ///< bytes
  /// Bytes that a vector core reads for `rows` rows in addition to scores, dP and statistics.
  std::function<device::Bytes(std::int64_t rows)> features;
};

BlockTraffic traffic_of(const BlockOperands& operands, const BlockPlan& plan);
Traffic operator*(const BlockCounts& counts, const BlockTraffic& traffic);

}  // namespace assay::optimized
