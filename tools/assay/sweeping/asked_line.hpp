#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace assay::cli {

/// Returns the command line without the flags for result files and for the part of the sweep. The
/// parts of a sweep therefore have the same line as the whole sweep.
std::string asked_line(const CLI::App& app);

}  // namespace assay::cli
