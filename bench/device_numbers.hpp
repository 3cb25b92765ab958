#pragma once

#include <functional>
#include <string>
#include <vector>

#include "assay/device/ascend.hpp"

namespace assay::bench {

/// Changes a device before anything is predicted on it.
using Adjust = std::function<void(device::Spec&)>;

/// One assumed number at one end of its range, on any device where it is assumed.
struct Move {
  std::string what;  ///< as it is on the device that was asked for
  Adjust adjust;
};

/// Every assumed number of a device, moved to either end of its range.
std::vector<Move> moves(const device::Spec& device);

}  // namespace assay::bench
