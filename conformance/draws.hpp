#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "assay/conformance/random.hpp"

namespace assay::conformance {

/// Draws numbers one after the other.
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
  /// 2 to `limit`, half of the time beside a multiple of a tile size.
  std::int64_t length(std::int64_t limit) {
    const std::int64_t tile = one_of({16, 64, 128, 512});
    if (tile - 1 > limit || integer(0, 1) == 0) return integer(2, limit);
    return std::clamp<std::int64_t>(tile * integer(1, (limit + 1) / tile) + integer(-1, 1), 2,
                                    std::max<std::int64_t>(limit, 2));
  }

 private:
  Random random_;
  std::uint64_t index_ = 0;
};

}  // namespace assay::conformance
