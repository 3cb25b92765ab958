#pragma once

#include <cstdint>

#include "tile/kernels.hpp"

namespace assay::optimized::tile {
// This file is compiled once for each instruction set, like body.hpp.
namespace {

/// Returns the smallest range of full 8-row blocks that contains the row ranges of `count` groups
/// of columns.
RowRange asked_rows(const RowRange* asked, std::int64_t rows, std::int64_t group, int count) {
  constexpr std::int64_t block = 8;
  if (asked == nullptr) return {0, rows};
  RowRange range = asked[group];
  for (int g = 1; g < count; ++g) {
    const RowRange other = asked[group + g];
    range.first = other.first < range.first ? other.first : range.first;
    range.last = other.last > range.last ? other.last : range.last;
  }
  const std::int64_t end = (range.last + block - 1) / block * block;
  return {range.first / block * block, end < rows ? end : rows};
}

}  // namespace
}  // namespace assay::optimized::tile
