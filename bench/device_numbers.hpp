#pragma once

#include <functional>
#include <string>
#include <vector>

#include "assay/device/ascend.hpp"

namespace assay::bench {

/// A function that changes the description of a device before the model makes its predictions.
using Adjust = std::function<void(device::Spec&)>;

/// Moves one assumed number of the device model to one end of its range, on every device that
/// assumes this number.
struct Move {
  std::string what;  ///< the value of the number on the requested device
  Adjust adjust;
};

/// For every assumed number of a device, returns two moves: one to each end of its range.
std::vector<Move> moves(const device::Spec& device);

}  // namespace assay::bench
