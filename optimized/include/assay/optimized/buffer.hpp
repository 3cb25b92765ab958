#pragma once

#include <string>

#include "assay/device/units.hpp"

namespace assay::optimized {

/// One allocated part of an on-chip memory.
struct Buffer {
  std::string memory, what;
  device::Bytes offset, size;
};

}  // namespace assay::optimized
