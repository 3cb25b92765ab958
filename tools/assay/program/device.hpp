#pragma once

#include "assay/cli/command.hpp"

namespace assay::cli {

/// Returns the command `assay device`. It prints the properties of a modelled device with their
/// sources, or plans one problem on the device.
Command device_command();

}  // namespace assay::cli
