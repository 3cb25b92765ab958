#pragma once

#include "assay/optimized/schedules/modelled.hpp"

namespace assay::optimized::schedules {

/// A pass over HBM: all cores together read the bytes once. If the vector cores process the data
/// with an instruction, they also write the bytes once.
struct Stream {
  device::Bytes read;
  device::Bytes written = {};
  const device::VectorCost* operation = nullptr;  ///< null: cube cores read, and nothing is written
};

Modelled model(const Stream& stream, const device::Spec& device);

}  // namespace assay::optimized::schedules
