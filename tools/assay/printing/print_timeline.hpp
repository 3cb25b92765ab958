#pragma once

#include <ostream>

#include "stored/timeline.hpp"

namespace assay::cli {

/// Prints how long each queue is busy, and the shortest time that memory bandwidths permit.
void print_timeline(const Timeline& timeline, std::ostream& out);

}  // namespace assay::cli
