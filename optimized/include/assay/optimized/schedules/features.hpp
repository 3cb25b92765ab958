#pragma once

#include <string>
#include <vector>

#include "assay/device/ascend.hpp"
#include "assay/device/units.hpp"

namespace assay::optimized::schedules {

/// The additional work and memory that the optional inputs (position bias, mask, dropout, sink)
/// need on a vector core. The softmax and its gradient are not included.
struct Features {
  using Operation = device::VectorCost device::VectorCosts::*;

  /// A buffer of a vector core with `bits` bits per score.
  struct Held {
    std::string what;
    std::int64_t bits;
  };

  std::int64_t score_bits = 0;                           ///< read per score
  std::int64_t column_bytes = 0;                         ///< read once per column of a tile
  std::int64_t tile_bytes = 0;                           ///< read once per tile
  std::int64_t row_bytes_stored = 0;                     ///< stored once per row of a tile
  std::vector<Operation> of_scores = {}, of_dprob = {};  ///< for all scores, in fp32
  std::vector<Held> held = {};
  device::Bytes tensors = {};    ///< bytes of all optional tensors in global memory
  device::Bytes last_pass = {};  ///< read once, after all tiles, by the pass that stores the sums

  bool any() const { return !of_scores.empty() || !of_dprob.empty(); }
  /// Returns the bytes that a vector core reads for a tile of scores (rows x columns).
  device::Bytes read(std::int64_t rows, std::int64_t columns) const {
    return {device::ceil_divide(rows * columns * score_bits, 8) + columns * column_bytes +
            tile_bytes};
  }
  static device::Bytes bytes_of(const Held& held, std::int64_t scores) {
    return {device::ceil_divide(scores * held.bits, 8)};
  }
};

}  // namespace assay::optimized::schedules
