#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "assay/device/instructions.hpp"

namespace assay::optimized::schedules {

/// Which of the two operators of a pair is modelled. For example, the gradient of attention
/// computes five matrix products per pair of query and key, the forward two.
enum class Direction { gradient, forward };

/// The modelled time of a kernel.
struct Modelled {
  double seconds = 0;
  /// Seconds of the launch, and of the passes over global memory before and after the iterations.
  /// `seconds` includes this time
  double extra = 0;
  double rounds = 0;  ///< iterations of the busiest core; may be fractional
  /// The fraction of the total time during which each queue of the busiest core is busy
  std::array<double, device::pipe_count> busy = {};
  double l2_share = 0;  ///< used fraction of the L2 bandwidth
  double l2_bytes = 0;  ///< of the busiest core
  /// Useful matrix steps of all cores, divided by the maximum number of steps in this time
  double cube_utilisation = 0;

  double share(device::Pipe pipe) const { return busy[static_cast<std::size_t>(pipe)]; }
};

/// The result of simulating `count` equal iterations on one core: their total time, the busy time
/// of each queue, and the L2 bytes.
struct Rounds {
  device::Cycles makespan;
  std::array<device::Cycles, device::pipe_count> busy = {};
  double l2_bytes = 0;
  double count = 0;
};

/// Returns the number of iterations to show in a trace. The result is at most `most`.
std::int64_t shown_rounds(const Modelled& modelled, std::int64_t most);

/// A function that appends `rounds` iterations to a program, including the work before the first
/// iteration and after the last.
using Writer = std::function<void(device::Instructions& code, std::int64_t rounds)>;

/// Simulates at most `most` iterations. For more iterations, extrapolates with the steady-state
/// time per iteration. A fractional iteration takes the same fraction of that time.
Rounds run_rounds(const device::Spec& device, const device::Share& share, double rounds,
                  std::int64_t most, const Writer& write);

/// Computes the modelled time of a kernel: the iterations of the busiest core, plus `more` seconds.
/// `steps`: the number of useful matrix cycles of all cores together.
Modelled finished(const Rounds& rounds, double more, const device::Share& share, double steps,
                  const device::Spec& device);

/// Returns the seconds that all vector cores need for one pass over global memory. `read` and
/// `written` bytes move through L2; `missing` of these bytes also move through HBM.
double pass_seconds(const device::Spec& device, device::Bytes read, device::Bytes written,
                    device::Bytes missing);

}  // namespace assay::optimized::schedules
