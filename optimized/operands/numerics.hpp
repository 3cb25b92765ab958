#pragma once

#include "assay/spec/numerics.hpp"

namespace assay::optimized {

/// What the tile kernels make of tensors of type `io` where every sum has one order.
spec::Numerics numerics_of_tiles(spec::DType io);

}  // namespace assay::optimized
