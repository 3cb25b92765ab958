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

/// A schedule that fits, for people.
struct Candidate {
  std::string name, text;
  Modelled modelled;
  std::function<std::vector<Buffer>()> buffers;
  std::function<device::Program()> program;  ///< of its first rounds
  std::string not_taken = {};  ///< of the vendor's: what it takes instead of this problem
};

/// What any schedule of a problem computes and moves at least, and by what: FLOP in a second at
/// most, "cube" or "vector cores".
struct Workload {
  double flop, peak;
  device::Bytes compulsory;
  std::string_view utilised;
};

/// The fastest of some schedules, which come in this order, with its buffers and what occupies it,
/// the next one, and the vendor's beside them.
std::string report_of(const Workload& work, const std::vector<Candidate>& all,
                      const std::vector<Candidate>& vendors, const device::Spec& device);

/// Its first rounds, an event for each instruction, in the JSON that Perfetto opens.
std::string trace_of(const Workload& work, const Candidate& best, const device::Spec& device);

/// Rates of a schedule beside what cube or vector cores and memories allow.
Roofline roofline_of(const Workload& work, const Modelled& modelled, const device::Spec& device);

}  // namespace assay::optimized::schedules
