#pragma once

#include <string>
#include <variant>
#include <vector>

#include "assay/optimized/schedules/gradient.hpp"

namespace assay::optimized::schedules {

/// A schedule of a forward or gradient, and its modelled time.
struct ModelledSchedule {
  std::string name;  ///< "basic", "sameAB" and "128 x 1024" are the vendor's
  std::variant<Round, Woven, Forward> schedule;
  Modelled modelled;

  std::string to_text() const;
};

/// Returns the vendor's schedules that fit the device, in the order of the vendor's templates.
std::vector<ModelledSchedule> vendor_plans(const Attention& attention, const device::Spec& device);

/// Returns every schedule that fits the device, the fastest first. Candidates for the gradient:
/// iterations of all sizes, with separate phases or with interleaved products (woven), and the
/// vendor's schedules. Candidates for the forward: tiles of all sizes, and the vendor's schedule.
/// Cost: well below a second.
std::vector<ModelledSchedule> plans(const Attention& attention, const device::Spec& device);

/// Formats a report for people: the fastest schedule of a problem with its buffers and its
/// bottleneck, the second fastest schedule, and the vendor's schedules for comparison.
std::string report(const Attention& attention, const device::Spec& device);

/// Returns the first iterations of the fastest schedule on one core, one event per instruction, in
/// the JSON format of Perfetto. Returns an empty text if no schedule fits.
std::string trace(const Attention& attention, const device::Spec& device);

/// The limit that L2 traffic sets for the given schedules. l2_bytes: the smallest L2 traffic of the
/// busiest core in any of the schedules. seconds: the time for this traffic at full L2 bandwidth,
/// plus launch and passes over global memory.
struct Floor {
  double l2_bytes, seconds;
};
Floor floor_of(const std::vector<ModelledSchedule>& plans);

/// A memory limit in a roofline plot (FLOP/s over FLOP/byte). The line ends where it reaches the
/// peak of the cube (matrix) cores.
struct Roof {
  std::string name;
  double intensity, roof;
};

/// Rates of a schedule in FLOP/s: the peak of the cube (matrix) cores, the achieved rate, and the
/// limits by L2 and HBM. The limit by L2 counts all bytes that the iterations move. The limit by
/// HBM counts every input and output once.
struct Roofline {
  double cube, reached;
  Roof l2, hbm;
};
Roofline roofline_of(const Attention& attention, const Modelled& modelled,
                     const device::Spec& device);

/// The bottleneck of a schedule: the name of a queue or memory, and the fraction of the time in
/// which the queue or memory is busy.
struct Bound {
  std::string name;
  double share;
};
Bound bound_of(const Modelled& modelled);

}  // namespace assay::optimized::schedules
