#pragma once

#include "assay/cli/command.hpp"

namespace assay::cli {

/// `assay mutants`: judges planted bugs and healthy variants and prints which check caught which.
Command mutants_command();

}  // namespace assay::cli
