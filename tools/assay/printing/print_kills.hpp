#pragma once

#include <ostream>

#include "stored/kills.hpp"

namespace assay::cli {

/// Prints how many injected faults each track detects, and after how many cases; how many the
/// tolerance rules of other projects detect; then every mutant with an unexpected verdict.
void print_kills(const Kills& kills, std::ostream& out);

}  // namespace assay::cli
