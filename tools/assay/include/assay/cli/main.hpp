#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "assay/cli/command.hpp"
#include "assay/cli/registry.hpp"

namespace assay::cli {

/// Runs the complete command line program with standard streams and signal handlers, and returns
/// the exit code.
int main(int argc, char** argv, const Registry& registry);

/// Runs the program without changing the state of the process. `words` is the command line without
/// the name of the program. All output goes to the streams of `context`.
ExitCode execute(const std::vector<std::string>& words, const Context& context);

/// Returns the line that --version prints: "assay 0.1.0, ..." with compiler and schemas.
std::string version_line();

}  // namespace assay::cli
