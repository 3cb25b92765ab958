#pragma once

#include "assay/spec/numerics.hpp"

namespace assay::optimized {

/// Returns the numerics (operations and roundings) of the tile kernels for tensors of type `io`.
/// The result is valid only if every sum has a fixed order.
spec::Numerics numerics_of_tiles(spec::DType io);

}  // namespace assay::optimized
