#pragma once

#include <ostream>

#include "stored/kills.hpp"

namespace assay::cli {

/// Prints how many injected faults each judging method (track) detects, and after how many cases.
/// Also prints how many of them the tolerance rules of other projects detect, and then every mutant
/// with an unexpected verdict.
void print_kills(const Kills& kills, std::ostream& out);

}  // namespace assay::cli
