#pragma once

#include <functional>

#include "assay/optimized/traffic.hpp"

namespace assay::optimized {

/// Memory traffic of a block of scores, of a record, and of a key tile. A record is a group of row
/// tiles; their dk and dv are summed in L0C.
struct BlockTraffic {
  Traffic block, record, key_tile;
};

/// The numbers of blocks, records and key tiles, over all heads and sequences.
struct BlockCounts {
  std::int64_t blocks, records, key_tiles;
};

/// Sizes that determine the memory traffic of a block, in addition to its tile sizes.
struct BlockOperands {
  std::int64_t query_rows;  ///< rows of query and dy read for a block; at most all of them
  std::int64_t head_dim, head_dim_rope, head_dim_v;
  std::int64_t element;  ///< bytes
  /// Returns the bytes that a vector core reads for the optional inputs of `rows` rows. Scores, dP
  /// and statistics are not included.
  std::function<device::Bytes(std::int64_t rows)> features;
};

BlockTraffic traffic_of(const BlockOperands& operands, const BlockPlan& plan);
Traffic operator*(const BlockCounts& counts, const BlockTraffic& traffic);

}  // namespace assay::optimized
