#pragma once

#include "assay/cli/registry.hpp"

namespace assay::cli {

/// The contents of the binary `assay`: implementations for the modelled devices, and the commands
/// that need them.
Registry own_registry();

}  // namespace assay::cli
