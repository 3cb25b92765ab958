#pragma once

#include <functional>
#include <string>
#include <vector>

#include "assay/device/ascend.hpp"

namespace assay::bench {

/// A function that changes a device before the model makes its predictions.
using Adjust = std::function<void(device::Spec&)>;

/// Moves one assumed number to one end of its range, on every device that assumes this number.
struct Move {
  std::string what;  ///< the value of the number on the requested device
  Adjust adjust;
};

/// Returns a move to each end of the range, for every assumed number of a device.
std::vector<Move> moves(const device::Spec& device);

}  // namespace assay::bench
