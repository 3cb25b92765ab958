#pragma once

#include <ostream>

#include "stored/kills.hpp"

namespace assay::cli {

/// How many planted bugs each track notices, and after how many cases; what other rules say; then
/// every mutant that was not told apart.
void print_kills(const Kills& kills, std::ostream& out);

}  // namespace assay::cli
