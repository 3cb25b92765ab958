#pragma once

#include <array>

#include "assay/device/timeline.hpp"

namespace assay::optimized {

/// First-order time of one problem on a device, all from counts of tiles.
struct Estimate {
  std::array<device::Cycles, device::pipe_count> busy;  ///< of the busiest core, per device::Pipe
  device::Cycles makespan;
  double seconds;
  device::Bytes read, written;  ///< global memory, L2 hits included
  double cube_utilisation;  ///< matrix steps of all cores over the makespan of all cores, 0 to 1
};

}  // namespace assay::optimized
