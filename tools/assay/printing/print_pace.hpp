#pragma once

#include <ostream>
#include <string>

#include "assay/conformance/report/results.hpp"

namespace assay::cli {

/// Prints the time that the kernel needs per call and per multiply-add. Also prints the calls that
/// took far longer than usual, because they may use a slow path of the kernel. Prints nothing if
/// too few calls were timed.
void print_pace(const conformance::Results& results, const std::string& program, std::ostream& out);

}  // namespace assay::cli
