#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace assay::cli {

/// The words of the command but for those that say where results go, and which part of them: parts
/// of a sweep that were joined have the line of the whole one.
std::string asked_line(const CLI::App& app);

}  // namespace assay::cli
