#pragma once

#include "assay/optimized/schedules/selected.hpp"

namespace assay::optimized::schedules {

/// FLOP of all pairs that are listed, and bytes of all inputs and outputs.
double flop_of(const Selection& selection);
device::Bytes compulsory_bytes(const Selection& selection);

}  // namespace assay::optimized::schedules
