#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace assay::conformance {

/// Cells of a mask of one byte each: rows and columns lie so far apart.
struct MaskSlice {
  std::byte* first;
  std::int64_t columns, row_stride, column_stride;
};

/// Excludes the cells (i, j) with j >= ends[i] and no others; a row for each end. A mask of 2048 by
/// 2048 would cost more than a small case, were its cells set one by one.
void fill_ends(const MaskSlice& mask, std::span<const std::int64_t> ends);

}  // namespace assay::conformance
