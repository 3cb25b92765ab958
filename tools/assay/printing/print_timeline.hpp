#pragma once

#include <ostream>

#include "stored/timeline.hpp"

namespace assay::cli {

/// Prints how long each queue is busy, and the shortest time that each memory's bandwidth permits.
void print_timeline(const Timeline& timeline, std::ostream& out);

}  // namespace assay::cli
