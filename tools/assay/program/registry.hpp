#pragma once

#include "assay/cli/registry.hpp"

namespace assay::cli {

/// What the binary `assay` offers: the modelled devices as implementations, and the commands that
/// need them.
Registry own_registry();

}  // namespace assay::cli
