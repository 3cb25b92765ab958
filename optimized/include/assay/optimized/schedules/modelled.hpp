#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "assay/device/instructions.hpp"

namespace assay::optimized::schedules {

/// The modelled time of a kernel.
struct Modelled {
  double seconds = 0;
  /// Seconds of the launch, and of the passes over global memory before and after the iterations;
  /// `seconds` includes them
  double extra = 0;
  double rounds = 0;  ///< iterations of the busiest core; may be fractional
  /// On the busiest core: the fraction of the total time during which each queue is busy
  std::array<double, device::pipe_count> busy = {};
  double l2_share = 0;  ///< used fraction of the L2 bandwidth
  double l2_bytes = 0;  ///< of the busiest core
  /// Useful matrix steps of all cores, divided by the steps that would be possible in this time
  double cube_utilisation = 0;

  double share(device::Pipe pipe) const { return busy[static_cast<std::size_t>(pipe)]; }
};

/// The time of `count` equal iterations on one core, the busy time of each queue, and the L2 bytes.
struct Rounds {
  device::Cycles makespan;
  std::array<device::Cycles, device::pipe_count> busy = {};
  double l2_bytes = 0;
  double count = 0;
};

/// Returns how many iterations a trace shows: at most `most`.
std::int64_t shown_rounds(const Modelled& modelled, std::int64_t most);

/// Appends `rounds` iterations to a program, including the work before the first and after the
/// last.
using Writer = std::function<void(device::Instructions& code, std::int64_t rounds)>;

/// Simulates up to `most` iterations. For more iterations, it extrapolates with the steady-state
/// time per iteration; a fractional iteration takes its fraction of that time.
Rounds run_rounds(const device::Spec& device, const device::Share& share, double rounds,
                  std::int64_t most, const Writer& write);

/// Computes the modelled time from the iterations of the busiest core and `more` additional
/// seconds. `steps` is the number of useful cube cycles of all cores together.
Modelled finished(const Rounds& rounds, double more, const device::Share& share, double steps,
                  const device::Spec& device);

/// Seconds that all vector cores need for one pass over global memory: `read` and `written` bytes
/// move through L2; `missing` of these bytes also move through HBM.
double pass_seconds(const device::Spec& device, device::Bytes read, device::Bytes written,
                    device::Bytes missing);

}  // namespace assay::optimized::schedules
