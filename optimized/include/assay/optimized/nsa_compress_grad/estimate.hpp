#pragma once

#include <array>

#include "assay/device/timeline.hpp"
#include "assay/optimized/nsa_compress_grad/tiling.hpp"

namespace assay::optimized::compress {

/// First-order time of one problem on a device.
struct Estimate {
  std::array<device::Cycles, device::pipe_count> busy;  ///< of the busiest core, per device::Pipe
  device::Cycles makespan;
  double seconds;
  device::Bytes read, written;  ///< global memory, L2 hits included
  double vector_utilisation;  ///< vector instructions of all cores over the makespan of all, 0 to 1
};

/// How the tiling would run: the items are dealt to the vector cores in turn, part by part. A core
/// sends the tiles of an item through its queues, loads and stores of one tile beside the
/// arithmetic of another. Behind a barrier one pass adds the sums of the items and stores
/// weight_grad. Source: device facts, sections 6.2 and 6.5.
Estimate estimate(const spec::NsaCompressGrad::Problem& problem, const Tiling& tiling,
                  const device::Spec& device);

}  // namespace assay::optimized::compress
