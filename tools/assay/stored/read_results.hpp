#pragma once

#include <string>

#include "assay/conformance/report/results.hpp"

namespace assay::cli {

/// A report file. Errors: UsageError naming the file and what is wrong with it.
conformance::Results read_results(const std::string& path);

}  // namespace assay::cli
