#pragma once

#include <cstdint>
#include <memory>

#include "assay/device/units.hpp"
#include "tile/kernels.hpp"

namespace assay::optimized {

/// Returns the row stride of a tile with `columns` columns. The stride is a multiple of the vector
/// lanes and an odd number of cache lines, so that the elements of a column are spread over many
/// sets of the cache.
constexpr std::int64_t padded(std::int64_t columns) {
  const std::int64_t groups = device::ceil_divide(columns, tile::lanes);
  return (groups | 1) * tile::lanes;
}

/// A buffer of four-byte numbers, aligned to cache lines. When it grows, the contents are lost. New
/// memory is not cleared.
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

  /// Called after a run. Frees a large buffer, whose memory others may need until the next run.
  void trim() {
    constexpr std::int64_t largest_kept = std::int64_t{1} << 24;  // bytes
    if (capacity() * std::int64_t{sizeof(Number)} > largest_kept) *this = {};
  }

  /// Returns the number of elements for which the buffer has memory.
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

/// Allocates tiles one after the other in one buffer. Before `start` is called, the allocator only
/// counts how many numbers are needed.
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
