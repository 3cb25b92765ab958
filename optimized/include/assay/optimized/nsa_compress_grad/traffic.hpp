#pragma once

#include "assay/optimized/nsa_compress_grad/tiling.hpp"
#include "assay/optimized/traffic.hpp"

namespace assay::optimized::compress {

/// Traffic of a run with this tiling. One vector core handles each item, which is a slice of the
/// channels of a head and a part of the tokens.
Traffic traffic(const spec::NsaCompressGrad::Problem& problem, const Tiling& tiling);

}  // namespace assay::optimized::compress
