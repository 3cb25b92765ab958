#pragma once

#include "assay/cli/command.hpp"

namespace assay::cli {

/// `assay device`: the numbers of a modelled device with their sources, or the plan of one problem
/// on it.
Command device_command();

}  // namespace assay::cli
