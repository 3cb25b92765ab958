#pragma once

#include "assay/optimized/schedules/modelled.hpp"

namespace assay::optimized::schedules {

/// Bytes of HBM that all cores read once, and write once where vector cores work on them with an
/// instruction.
struct Stream {
  device::Bytes read;
  device::Bytes written = {};
  const device::VectorCost* operation = nullptr;  ///< null: cube cores read, and nothing is written
};

Modelled model(const Stream& stream, const device::Spec& device);

}  // namespace assay::optimized::schedules
