#pragma once

#include <string>
#include <variant>
#include <vector>

#include "assay/optimized/schedules/gradient.hpp"

namespace assay::optimized::schedules {

/// A schedule of a gradient and what the model says of it.
struct ModelledSchedule {
  std::string name;  ///< "basic" and "sameAB" are the vendor's
  std::variant<Round, Woven> schedule;
  Modelled modelled;

  std::string to_text() const;
};

/// The vendor's families where they fit, in the order of their templates.
std::vector<ModelledSchedule> vendor_plans(const Attention& attention, const device::Spec& device);

/// Every schedule that fits, the fastest first: rounds of all extents, one phase after the other or
/// woven, and the vendor's.
/// Cost: well below a second.
std::vector<ModelledSchedule> plans(const Attention& attention, const device::Spec& device);

/// The fastest schedule of a problem with its buffers and what occupies it, the next one, and the
/// vendor's beside them, for people.
std::string report(const Attention& attention, const device::Spec& device);

/// The first rounds of the fastest schedule on one core, an event for each instruction, in the JSON
/// that Perfetto opens. Empty where nothing fits.
std::string trace(const Attention& attention, const device::Spec& device);

/// What no schedule of these can be faster than: the fewest bytes that one of them moves through L2
/// on its busiest core, in the time they take if L2 never stands idle, with launch and passes.
struct Floor {
  double l2_bytes, seconds;
};
Floor floor_of(const std::vector<ModelledSchedule>& plans);

/// What memory allows, in a picture of rate over intensity: at so many FLOP for each byte no more
/// than the roof in FLOP/s, which ends at that of the cube.
struct Roof {
  std::string name;
  double intensity, roof;
};

/// Rates of a schedule in FLOP/s: of the cube, reached, and under each roof. Bytes through L2 are
/// those of its rounds, bytes through HBM those of all inputs and outputs, once.
struct Roofline {
  double cube, reached;
  Roof l2, hbm;
};
Roofline roofline_of(const Attention& attention, const Modelled& modelled,
                     const device::Spec& device);

/// What a schedule is held up by most: the share of the time that it is busy, and its name.
struct Bound {
  std::string name;
  double share;
};
Bound bound_of(const Modelled& modelled);

}  // namespace assay::optimized::schedules
