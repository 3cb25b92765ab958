#pragma once

#include "assay/cli/registry.hpp"

namespace assay::cli {

/// Returns the implementations and additional commands of the program `assay`.
Registry own_registry();

}  // namespace assay::cli
