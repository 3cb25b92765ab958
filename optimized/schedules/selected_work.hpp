#pragma once

#include "assay/optimized/schedules/selected.hpp"
#include "schedules/report.hpp"

namespace assay::optimized::schedules {

/// flop_of returns the floating-point operations of all pairs of query and listed key.
/// compulsory_bytes returns the bytes of all inputs and outputs. All depend on the direction.
double flop_of(const Selection& selection);
Workload work_of(const Selection& selection, const device::Spec& device);
Compulsory compulsory_bytes(const Selection& selection);

}  // namespace assay::optimized::schedules
