#pragma once

#include <ostream>

#include "stored/timeline.hpp"

namespace assay::cli {

/// How long each queue is busy, and which memory allows how much.
void print_timeline(const Timeline& timeline, std::ostream& out);

}  // namespace assay::cli
