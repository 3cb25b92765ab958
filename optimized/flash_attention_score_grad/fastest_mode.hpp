#pragma once

#include "assay/optimized/options.hpp"

namespace assay::optimized {

/// Returns the host mode in which this machine computes a small gradient in bf16 in the shortest
/// time, on one thread. The first call measures, which takes about 30 ms; later calls return the
/// same mode.
HostMode fastest_mode();

}  // namespace assay::optimized
