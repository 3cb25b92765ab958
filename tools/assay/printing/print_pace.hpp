#pragma once

#include <ostream>
#include <string>

#include "assay/conformance/report/results.hpp"

namespace assay::cli {

/// Prints how much time the kernel took for its work, and calls that took far more than the
/// kernel's own median says: a slow path that only these calls take. Nothing where too few calls
/// were timed.
void print_pace(const conformance::Results& results, const std::string& program, std::ostream& out);

}  // namespace assay::cli
