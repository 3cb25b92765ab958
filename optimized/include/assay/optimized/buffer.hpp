#pragma once

#include <string>

#include "assay/device/units.hpp"

namespace assay::optimized {

/// One tile of an on-chip buffer.
struct Buffer {
  std::string memory, what;
  device::Bytes offset, size;
};

}  // namespace assay::optimized
