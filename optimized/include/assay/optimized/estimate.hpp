#pragma once

#include <array>
#include <string>
#include <string_view>

#include "assay/device/ascend.hpp"
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

/// Time, utilisation and bytes, then how long queues and L2 are busy, and what binds, for people.
/// `utilised` names what cube_utilisation is the share of.
std::string to_text(const Estimate& estimate, const device::Spec& device,
                    std::string_view utilised = "cube");

}  // namespace assay::optimized
