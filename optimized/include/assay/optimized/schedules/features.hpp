#pragma once

#include <string>
#include <vector>

#include "assay/device/ascend.hpp"
#include "assay/device/units.hpp"

namespace assay::optimized::schedules {

/// What optional tensors (position bias, mask, dropout) ask of a vector core, beside the softmax
/// and its gradient.
struct Features {
  using Operation = device::VectorCost device::VectorCosts::*;

  /// What it holds for each score.
  struct Held {
    std::string what;
    std::int64_t bits;
  };

  std::int64_t score_bits = 0;                           ///< read for each score
  std::int64_t column_bytes = 0;                         ///< read once for each column of a tile
  std::int64_t tile_bytes = 0;                           ///< read once for each tile
  std::vector<Operation> of_scores = {}, of_dprob = {};  ///< each on as many numbers of fp32
  std::vector<Held> held = {};
  device::Bytes tensors = {};  ///< all of them in global memory

  bool any() const { return !of_scores.empty() || !of_dprob.empty(); }
  /// For a tile of so many scores.
  device::Bytes read(std::int64_t rows, std::int64_t columns) const {
    return {device::ceil_divide(rows * columns * score_bits, 8) + columns * column_bytes +
            tile_bytes};
  }
  static device::Bytes bytes_of(const Held& held, std::int64_t scores) {
    return {device::ceil_divide(scores * held.bits, 8)};
  }
};

}  // namespace assay::optimized::schedules
