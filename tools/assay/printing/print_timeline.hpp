#pragma once

#include <ostream>

#include "stored/timeline.hpp"

namespace assay::cli {

/// Prints the modelled times of a plan: how long each queue of the device is busy, and the shortest
/// time that the memory bandwidths permit.
void print_timeline(const Timeline& timeline, std::ostream& out);

}  // namespace assay::cli
