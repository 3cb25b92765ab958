#pragma once

#include <ostream>
#include <string>

#include "assay/conformance/report/results.hpp"

namespace assay::cli {

/// Prints how much time the kernel took for its work. Also prints calls that took far longer than
/// the median of the kernel's calls, which hints at a slow path for these calls only. Prints
/// nothing if too few calls were timed.
void print_pace(const conformance::Results& results, const std::string& program, std::ostream& out);

}  // namespace assay::cli
