#include "attention/mask_ends.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace assay::conformance {
namespace {

/// Checks each element of the mask against the documented rule, for different row and column
/// strides. The bytes between the elements must not change.
TEST(MaskEnds, ExcludeElementsAfterThem) {
  const std::vector<std::int64_t> ends = {1, -2, 5, 9, 0, 3};
  constexpr std::int64_t rows = 6, columns = 5;
  for (const auto& [row_stride, column_stride] :
       {std::pair<std::int64_t, std::int64_t>{5, 1}, {7, 1}, {1, 6}, {1, 8}, {11, 2}, {2, 13}}) {
    constexpr std::byte untouched{7};
    std::vector<std::byte> bytes(200, untouched), expected_value = bytes;
    fill_ends({bytes.data() + 3, columns, row_stride, column_stride}, ends);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        expected_value[static_cast<std::size_t>(3 + i * row_stride + j * column_stride)] =
            std::byte{j >= ends[static_cast<std::size_t>(i)]};
    EXPECT_EQ(bytes, expected_value) << row_stride << ' ' << column_stride;
  }
}

}  // namespace
}  // namespace assay::conformance
