#pragma once

#include <utility>

#include "assay/device/instructions.hpp"
#include "assay/optimized/schedules/gradient.hpp"

namespace assay::optimized::schedules {

/// Cycles of a vector core per 256 B of fp32 numbers. Source: a measurement (row F11 of the table
/// that `assay_bench validation` prints). On two vector cores, the softmax of 128 x 256 scores
/// takes 2488.9 cycles, and rescaling the sums takes 833.7 cycles.
inline constexpr double softmax_slope = 2488.9 / 256, rescale_slope = 833.7 / 128;

/// Models a vector core: it loads rows of scores and dP to the unified buffer, computes, and stores
/// the results.
class VectorUnit {
 public:
  /// `buffers`: number of buffers for each kind of tile; `tile`: numbers in a buffer; `element`:
  /// bytes of a stored result. A buffer of inputs becomes free when the result that is computed
  /// from it has been stored.
  VectorUnit(device::Instructions& code, std::size_t buffers, std::int64_t tile,
             device::Bytes element, Exchange exchange = Exchange::rows, Features features = {})
      : code_(code),
        tile_(tile),
        element_(element),
        exchange_(exchange),
        features_(std::move(features)),
        left_(buffers),
        right_(buffers) {}

  /// forward_softmax models the computation of P from `scores` scores, and returns the last store.
  /// rescale models the multiplication of the forward's sums by a new factor. It then stores
  /// `results` bytes.
  device::TaskId forward_softmax(std::int64_t scores, device::TaskId ready);
  void rescale(std::int64_t numbers, device::TaskId ready, device::Bytes results);
  /// The instructions after which the destinations of P and of dS in global memory are free.
  struct Places {
    device::TaskId prob = device::none, dscore = device::none;
  };

  /// Computes P and dS from `scores` scores and as many elements of dP. Returns the last store.
  device::TaskId gradient(std::int64_t scores, device::TaskId ready, const Places& places);

 private:
  /// The bytes that a pass moves in addition to the scores and the result.
  struct Extra {
    device::Bytes loaded, stored;
  };

  /// Loads `scores` numbers and the additional bytes, computes, and stores the result.
  device::TaskId pass(device::Ring& buffers, std::int64_t scores, device::Cycles cycles,
                      device::TaskId ready, device::TaskId place = device::none,
                      const Extra& extra = {});

  device::Instructions& code_;
  std::int64_t tile_;
  device::Bytes element_;  // per element of the stored results
  Exchange exchange_;
  Features features_;
  device::Ring left_, right_;
};

}  // namespace assay::optimized::schedules
