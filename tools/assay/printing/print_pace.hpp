#pragma once

#include <ostream>
#include <string>

#include "assay/conformance/report/results.hpp"

namespace assay::cli {

/// Prints how much time the kernel needed for its work, and the calls that took far longer than the
/// median: they may use a slow path. Prints nothing if too few calls were timed.
void print_pace(const conformance::Results& results, const std::string& program, std::ostream& out);

}  // namespace assay::cli
