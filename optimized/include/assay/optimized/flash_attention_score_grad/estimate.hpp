#pragma once

#include <array>

#include "assay/device/timeline.hpp"
#include "assay/optimized/flash_attention_score_grad/tiling.hpp"

namespace assay::optimized {

/// First-order time of one problem on a device, all from counts of tiles.
struct Estimate {
  std::array<device::Cycles, device::pipe_count> busy;  ///< of the busiest core, per device::Pipe
  device::Cycles makespan;
  double seconds;
  device::Bytes read, written;  ///< global memory, L2 hits included
  double cube_utilisation;  ///< matrix steps of all cores over the makespan of all cores, 0 to 1
};

/// How the tiling would run: one key tile of one key head is the work of a core and its two vector
/// cores, dealt out in rounds; inside, the products of a record run beside the softmax of the one
/// before.
///
/// dq is added in ascending order of the key tiles; cores that share a head therefore start one
/// record after another. Source: device facts, sections 6.2, 6.3 and 6.5.
Estimate estimate(const spec::FlashAttentionScoreGrad::Problem& problem, const Tiling& tiling,
                  const device::Spec& device);

}  // namespace assay::optimized
