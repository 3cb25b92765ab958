#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace assay::cli {

/// Returns the command line without the flags for result files and for the part of the sweep. So
/// the merged parts of a sweep have the command line of the whole sweep.
std::string asked_line(const CLI::App& app);

}  // namespace assay::cli
