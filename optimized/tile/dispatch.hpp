#pragma once

#include "assay/optimized/options.hpp"
#include "tile/kernels.hpp"

namespace assay::optimized::tile {

/// The kernels of one instruction set. Errors: std::invalid_argument if this machine lacks it.
const Kernels& kernels(Instructions instructions);

}  // namespace assay::optimized::tile
