#pragma once

#include <cstdint>

#include "flash_attention_score_grad/workspace.hpp"

namespace assay::optimized {

/// Hands out consecutive floats of one reservation. Without `start` it only counts them.
class Carver {
 public:
  Tile tile(std::int64_t rows, std::int64_t columns) {
    const Tile result = {.at = at(used_), .stride = padded(columns)};
    used_ += rows * padded(columns);
    return result;
  }
  float* line(std::int64_t count) { return tile(1, count).at; }
  void start(float* base) { base_ = base, used_ = 0; }
  std::int64_t used() const { return used_; }

 private:
  float* at(std::int64_t offset) const { return base_ == nullptr ? nullptr : base_ + offset; }
  float* base_ = nullptr;
  std::int64_t used_ = 0;
};

}  // namespace assay::optimized
