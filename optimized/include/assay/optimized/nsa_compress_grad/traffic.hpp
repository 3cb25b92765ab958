#pragma once

#include "assay/optimized/nsa_compress_grad/tiling.hpp"
#include "assay/optimized/traffic.hpp"

namespace assay::optimized::compress {

/// Returns how many bytes a run with this tiling moves through global memory. One vector core
/// processes each unit of work: a slice of the channels of a head in a part of the tokens.
Traffic traffic(const spec::NsaCompressGrad::Problem& problem, const Tiling& tiling);

}  // namespace assay::optimized::compress
