#pragma once

#include <cstdint>
#include <memory>

#include "assay/device/units.hpp"
#include "tile/kernels.hpp"

namespace assay::optimized {

/// Rows are this far apart at least: whole groups of lanes, and an odd number of cache lines, so
/// that a column of a tile does not fall into few sets of the cache.
constexpr std::int64_t padded(std::int64_t columns) {
  const std::int64_t groups = device::ceil_divide(columns, tile::lanes);
  return (groups | 1) * tile::lanes;
}

/// Numbers of four bytes on cache lines; what it held is lost when it grows, and nothing is
/// cleared.
template <class Number>
class CacheLines {
 public:
  Number* reserve(std::int64_t count) {
    const std::int64_t lines = device::ceil_divide(count, tile::lanes);
    if (lines > lines_) {
      storage_ = std::make_unique_for_overwrite<Line[]>(static_cast<std::size_t>(lines));
      lines_ = lines;
    }
    return reinterpret_cast<Number*>(storage_.get());
  }

  /// How many it can hold.
  std::int64_t capacity() const { return lines_ * tile::lanes; }

 private:
  struct alignas(64) Line {
    Number lanes[tile::lanes];
  };
  std::unique_ptr<Line[]> storage_;
  std::int64_t lines_ = 0;
};

/// A tile of numbers in a workspace.
template <class Number>
struct TileOf {
  Number* at = nullptr;
  std::int64_t stride = 0;

  Number* row(std::int64_t i) const { return at + i * stride; }
};

/// Hands out consecutive numbers of one reservation. Without `start` it only counts them.
template <class Number>
class CarverOf {
 public:
  TileOf<Number> tile(std::int64_t rows, std::int64_t columns) {
    const TileOf<Number> result = {.at = at(used_), .stride = padded(columns)};
    used_ += rows * padded(columns);
    return result;
  }
  Number* line(std::int64_t count) { return tile(1, count).at; }
  void start(Number* base) { base_ = base, used_ = 0; }
  std::int64_t used() const { return used_; }

 private:
  Number* at(std::int64_t offset) const { return base_ == nullptr ? nullptr : base_ + offset; }
  Number* base_ = nullptr;
  std::int64_t used_ = 0;
};

using Floats = CacheLines<float>;
using Tile = TileOf<float>;
using Carver = CarverOf<float>;

}  // namespace assay::optimized
