#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "assay/conformance/inputs/random.hpp"

namespace assay::conformance {

/// The tile sizes for random lengths are 16, 32 ... 512 rows.
inline constexpr std::int64_t least_tile = 16;
inline constexpr int tile_sizes = 6;

/// A sequence of random numbers.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : random_(stream(seed, Stream::sampling)) {}

  std::int64_t integer(std::int64_t first, std::int64_t last) {
    return random_.integer(index_++, first, std::max(first, last));
  }
  template <class Value, std::size_t count>
  Value one_of(const Value (&values)[count]) {
    return values[integer(0, static_cast<std::int64_t>(count) - 1)];
  }
  /// Returns a random number from `first` to `last`. With probability 1/2 it is a multiple of a
  /// tile size or next to such a multiple, if the range contains one.
  std::int64_t edge(std::int64_t first, std::int64_t last) {
    last = std::max(first, last);
    const std::int64_t tile = least_tile << integer(0, tile_sizes - 1);
    const std::int64_t fewest = std::max<std::int64_t>(1, (first + tile - 2) / tile);
    const std::int64_t most = (last + 1) / tile;
    if (fewest > most || integer(0, 1) == 0) return integer(first, last);
    return std::clamp(tile * integer(fewest, most) + integer(-1, 1), first, last);
  }
  /// Returns a random number from 2 to `limit`. Like `edge`, it prefers multiples of a tile size
  /// and their neighbours.
  std::int64_t length(std::int64_t limit) { return edge(2, limit); }

 private:
  Random random_;
  std::uint64_t index_ = 0;
};

}  // namespace assay::conformance
