#pragma once

#include <utility>

#include "assay/device/instructions.hpp"
#include "assay/optimized/schedules/gradient.hpp"

namespace assay::optimized::schedules {

/// Cycles of a vector core for each 256 B of fp32. Row F11: softmax of 128 x 256 scores in 2488.9
/// cycles, the sums rescaled in 833.7, each by two cores.
inline constexpr double softmax_slope = 2488.9 / 256, rescale_slope = 833.7 / 128;

/// Rows of scores and of dP through the unified buffer of a vector core and back.
class VectorUnit {
 public:
  /// `buffers` of each kind of tile, of `tile` numbers, which are stored as elements. A buffer is
  /// loaded again when what was made of it is stored.
  VectorUnit(device::Instructions& code, std::size_t buffers, std::int64_t tile,
             device::Bytes element, Exchange exchange = Exchange::rows, Features features = {})
      : code_(code),
        tile_(tile),
        element_(element),
        exchange_(exchange),
        features_(std::move(features)),
        left_(buffers),
        right_(buffers) {}

  /// P of so many scores, or the sums of the forward's rows; returns what stores it last.
  device::TaskId forward_softmax(std::int64_t scores, device::TaskId ready);
  void rescale(std::int64_t numbers, device::TaskId ready);
  /// What frees the place in global memory to which P, and that to which dS is stored.
  struct Places {
    device::TaskId prob = device::none, dscore = device::none;
  };

  /// P and dS of so many scores and as many dP; returns what stores the last of them.
  device::TaskId gradient(std::int64_t scores, device::TaskId ready, const Places& places);

 private:
  /// Loads so many numbers, and `beside` with them, and stores what is computed of them.
  device::TaskId pass(device::Ring& buffers, std::int64_t scores, device::Cycles cycles,
                      device::TaskId ready, device::TaskId place = device::none,
                      device::Bytes beside = {});

  device::Instructions& code_;
  std::int64_t tile_;
  device::Bytes element_;  // of what is stored
  Exchange exchange_;
  Features features_;
  device::Ring left_, right_;
};

}  // namespace assay::optimized::schedules
