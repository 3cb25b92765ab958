#pragma once

#include <array>

#include "assay/device/cost.hpp"
#include "assay/device/timeline.hpp"
#include "assay/optimized/flash_attention_score_grad/tiling.hpp"

namespace assay::optimized {

/// Work of one core and its vector cores; the cycles of a vector pipe are those of one vector core.
struct Work {
  std::array<device::Cycles, device::pipe_count> busy = {};
  device::Bytes read, written;

  device::Cycles& on(device::Pipe pipe) { return busy[static_cast<std::size_t>(pipe)]; }
  device::Cycles on(device::Pipe pipe) const { return busy[static_cast<std::size_t>(pipe)]; }
  Work& operator+=(const Work& other);
  friend Work operator*(double times, const Work& work);
};

/// What a block of scores costs, what is paid once per record of blocks under one key tile, and
/// once per key tile; and how long a block takes alone, from its first load to its last drain.
struct BlockCost {
  Work block, record, key_tile;
  device::Cycles alone;
};

BlockCost block_cost(const spec::FlashAttentionScoreGrad::Problem& problem, const Tiling& tiling,
                     const device::Spec& device);

}  // namespace assay::optimized
