#pragma once

#include "assay/optimized/nsa_compress_grad/tiling.hpp"
#include "assay/optimized/traffic.hpp"

namespace assay::optimized::compress {

/// Of a run with this tiling: every item, a slice of the channels of a head and a part of the
/// tokens, goes through one vector core.
Traffic traffic(const spec::NsaCompressGrad::Problem& problem, const Tiling& tiling);

}  // namespace assay::optimized::compress
