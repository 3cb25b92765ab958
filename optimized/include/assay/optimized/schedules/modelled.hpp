#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "assay/device/instructions.hpp"

namespace assay::optimized::schedules {

/// What the model says of a kernel.
struct Modelled {
  double seconds = 0;
  double beside = 0;  ///< of these, launch and passes before and behind the rounds
  double rounds = 0;  ///< of the busiest core; a part of one counts as such
  std::array<double, device::pipe_count> busy = {};  ///< of the busiest core, over the whole time
  double l2_share = 0;                               ///< of what L2 could have moved meanwhile
  double l2_bytes = 0;                               ///< of the busiest core
  double cube_utilisation = 0;  ///< useful matrix steps of all cores over those they had time for

  double share(device::Pipe pipe) const { return busy[static_cast<std::size_t>(pipe)]; }
};

/// How long so many equal rounds take on one core, and what they occupy.
struct Rounds {
  device::Cycles makespan;
  std::array<device::Cycles, device::pipe_count> busy = {};
  double l2_bytes = 0;
  double count = 0;
};

/// Of so many rounds, those that a picture of their beginning shows.
std::int64_t shown_rounds(const Modelled& modelled, std::int64_t most);

/// Appends so many rounds, with what comes before and behind them, to a program.
using Writer = std::function<void(device::Instructions& code, std::int64_t rounds)>;

/// Runs some rounds in the event model; beyond `most` the time of a round in the steady state is
/// added for each of the others, and for a part of one its part of the time.
Rounds run_rounds(const device::Spec& device, const device::Share& share, double rounds,
                  std::int64_t most, const Writer& write);

/// The rounds of the busiest core with `more` seconds beside them; `steps` are the useful cycles of
/// the cube, of all cores together.
Modelled finished(const Rounds& rounds, double more, const device::Share& share, double steps,
                  const device::Spec& device);

/// Seconds of a pass of all vector cores over global memory: `read` and `written` bytes move
/// through L2, and `missing` of them through HBM.
double pass_seconds(const device::Spec& device, device::Bytes read, device::Bytes written,
                    device::Bytes missing);

}  // namespace assay::optimized::schedules
