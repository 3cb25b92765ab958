#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "assay/cli/command.hpp"
#include "assay/cli/registry.hpp"

namespace assay::cli {

/// The whole command line for a binary: standard streams, signals, exit code.
int main(int argc, char** argv, const Registry& registry);

/// The same without process state: the words after the program's name. The streams of `context` are
/// the only output.
ExitCode execute(std::vector<std::string> words, const Context& context);

/// "assay 0.1.0, ...": version, compiler, schemas.
std::string version_line();

}  // namespace assay::cli
