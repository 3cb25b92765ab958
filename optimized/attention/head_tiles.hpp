#pragma once

#include "assay/optimized/attention/tiling.hpp"
#include "host/work_list.hpp"

namespace assay::optimized {

/// Returns an iterator over all row tiles, or over all key tiles, of `heads` heads. Keeps a
/// reference to the tiling.
inline HeadTiles head_tiles(const Tiling& tiling, std::int64_t heads,
                            std::int64_t SequenceTiles::*tiles) {
  return {tiling.batch, heads,
          [&tiling, tiles](std::int64_t b) { return tiling.sequence(b).*tiles; }};
}

}  // namespace assay::optimized
