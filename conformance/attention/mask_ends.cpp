#include "attention/mask_ends.hpp"

#include <algorithm>

namespace assay::conformance {

void fill_ends(const MaskSlice& mask, std::span<const std::int64_t> ends) {
  const auto rows = std::ssize(ends);
  const auto end_of = [&](std::int64_t i) {
    return std::clamp<std::int64_t>(ends[static_cast<std::size_t>(i)], 0, mask.columns);
  };
  if (mask.column_stride == 1) {
    for (std::int64_t i = 0; i < rows; ++i) {
      std::byte* const row = mask.first + i * mask.row_stride;
      std::fill(row, row + end_of(i), std::byte{0});
      std::fill(row + end_of(i), row + mask.columns, std::byte{1});
    }
    return;
  }
  // The inner loop follows the smaller stride, so that it writes adjacent elements.
  const bool by_columns = mask.row_stride < mask.column_stride;
  const std::int64_t outer = by_columns ? mask.columns : rows,
                     inner = by_columns ? rows : mask.columns;
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t n = 0; n < inner; ++n) {
      const std::int64_t i = by_columns ? n : o, j = by_columns ? o : n;
      mask.first[i * mask.row_stride + j * mask.column_stride] = std::byte{j >= end_of(i)};
    }
}

}  // namespace assay::conformance
