#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "assay/cli/command.hpp"
#include "assay/cli/registry.hpp"

namespace assay::cli {

/// The complete command line program for a binary, with standard streams, signals and exit code.
int main(int argc, char** argv, const Registry& registry);

/// The same without the state of the process. `words`: the command line without the name of the
/// program. All output goes to the streams of `context`.
ExitCode execute(std::vector<std::string> words, const Context& context);

/// "assay 0.1.0, ...": version, compiler, schemas.
std::string version_line();

}  // namespace assay::cli
