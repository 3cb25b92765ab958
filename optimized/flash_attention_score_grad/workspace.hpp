#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "assay/device/units.hpp"
#include "tile/kernels.hpp"

namespace assay::optimized {

/// Rows are this far apart at least: whole groups of lanes, and an odd number of cache lines, so
/// that a column of a tile does not fall into few sets of the cache.
constexpr std::int64_t padded(std::int64_t columns) {
  const std::int64_t groups = device::ceil_divide(columns, tile::lanes);
  return (groups | 1) * tile::lanes;
}

/// Floats on cache lines; what it held is lost when it grows, and nothing is cleared.
class Floats {
 public:
  float* reserve(std::int64_t count) {
    const std::int64_t lines = device::ceil_divide(count, tile::lanes);
    if (lines > lines_) {
      storage_ = std::make_unique_for_overwrite<Line[]>(static_cast<std::size_t>(lines));
      lines_ = lines;
    }
    return reinterpret_cast<float*>(storage_.get());
  }

 private:
  struct alignas(64) Line {
    float lanes[tile::lanes];
  };
  std::unique_ptr<Line[]> storage_;
  std::int64_t lines_ = 0;
};

/// A tile of floats in a workspace.
struct Tile {
  float* at = nullptr;
  std::int64_t stride = 0;

  float* row(std::int64_t i) const { return at + i * stride; }
};

/// What one host thread works in.
struct ThreadTiles {
  Floats storage;
  std::vector<std::uint8_t> excluded, dropped;
  Tile key, key_transposed, value, value_transposed, query, dy;
  Tile scores, dprob, bias;
  Tile dk, dv, dk_record, dv_record;
  float *max = nullptr, *sum = nullptr, *row_term = nullptr;
};

/// Kept between runs, so that small problems do not pay for fresh memory.
struct Workspace {
  Floats dq, row_terms;
  std::vector<ThreadTiles> threads;
};

}  // namespace assay::optimized
