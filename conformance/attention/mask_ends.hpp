#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace assay::conformance {

/// A mask in memory: one byte per pair, and the strides of its rows and columns.
struct MaskSlice {
  std::byte* first;
  std::int64_t columns, row_stride, column_stride;
};

/// Masks exactly the pairs (i, j) with j >= ends[i]; `ends` has one entry per row. For a 2048 x
/// 2048 mask this is much faster than setting single elements.
void fill_ends(const MaskSlice& mask, std::span<const std::int64_t> ends);

}  // namespace assay::conformance
