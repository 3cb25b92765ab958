#pragma once

#include <cstdint>

#include "tile/kernels.hpp"

namespace assay::optimized::tile {
namespace {

/// Calls visit(place, sum) for all sums of a block; `place` is the address of the vector in the
/// result. The loops are unrolled and `visit` contains no condition, so that the sums stay in
/// registers.
template <int rows, int vectors, class Vector, class Visit>
[[gnu::always_inline]] inline void each_sum(Vector (&sums)[rows][vectors], float* c,
                                            std::int64_t c_row, const Visit& visit) {
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) visit(c + r * c_row + v * lanes, sums[r][v]);
}

}  // namespace
}  // namespace assay::optimized::tile
