#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/device/program.hpp"
#include "assay/optimized/buffer.hpp"
#include "assay/optimized/schedules/modelled.hpp"
#include "assay/optimized/schedules/planner.hpp"

namespace assay::optimized::schedules {

/// A schedule that fits the device, with its description for people.
struct Candidate {
  std::string name, text;
  Modelled modelled;
  std::function<std::vector<Buffer>()> buffers;
  std::function<device::Program()> program;  ///< returns the first iterations
  std::string not_taken = {};                ///< see Attention::not_taken
};

/// The bytes of all inputs and of all outputs. Every schedule reads or writes each of them at least
/// once.
struct Compulsory {
  device::Bytes read, written;
};

/// The minimal work (flop) and memory traffic (bytes) of a problem under any schedule. `utilised`:
/// name of the units that do the work ("cube" or "vector cores"); `peak`: their peak in FLOP/s.
/// `published`: whether a schedule of the vendor is known. Reports on a forward first print the
/// compulsory traffic, because no kernel with its own traffic is planned for the device.
struct Workload {
  double flop, peak;
  Compulsory compulsory;
  std::string_view utilised;
  Direction direction = Direction::gradient;
  bool published = true;
};

/// Formats a report: the fastest schedule in `all` with its buffers and its bottleneck, the second
/// fastest, and the vendor's schedules for comparison. `all` must be sorted by time.
std::string report_of(const Workload& work, const std::vector<Candidate>& all,
                      const std::vector<Candidate>& vendors, const device::Spec& device);

/// Returns the first iterations of the schedule `best`, one event per instruction, in the JSON
/// format of Perfetto.
std::string trace_of(const Workload& work, const Candidate& best, const device::Spec& device);

/// Returns the rates of a schedule: the achieved rate, the peak of the units that do the work, and
/// the limits by L2 and HBM.
Roofline roofline_of(const Workload& work, const Modelled& modelled, const device::Spec& device);

}  // namespace assay::optimized::schedules
