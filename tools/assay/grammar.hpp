#pragma once

#include <string>
#include <vector>

#include "assay/cli/main.hpp"

namespace assay::cli {

/// Parses the command line and runs the command that it names. Errors: UsageError for words that no
/// command accepts, and the errors of the command.
ExitCode dispatch(const std::vector<std::string>& words, const Context& context);

}  // namespace assay::cli
