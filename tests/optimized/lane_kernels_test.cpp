#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "assay/spec/dtype.hpp"
#include "tile/dispatch.hpp"
#include "tile_kernels.hpp"

namespace {

using namespace assay;
using namespace optimized::tile;
using spec::DType;
using test::available_kernels;
using test::numbers;

/// Every pattern of the upper bits, with the lower ones just below, at and above the ties of both
/// types.
std::vector<float> around_ties() {
  std::vector<float> values;
  for (std::uint32_t upper = 0; upper < 0x10000; ++upper)
    for (const std::uint32_t lower :
         {0U, 1U, 0x0FFFU, 0x1000U, 0x1001U, 0x3000U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU})
      values.push_back(std::bit_cast<float>(upper << 16 | lower));
  for (int k = 0; k < 8192; ++k) values.push_back(static_cast<float>(k) * 0x1p-27F);
  return values;
}

TEST(LaneKernels, NarrowEvenRoundsToNearestTiesToEven) {
  const std::vector<float> values = around_ties();
  for (const DType dtype : {DType::fp16, DType::bf16}) {
    const spec::FloatFormat format = spec::format_of(dtype);
    for (const Kernels* set : available_kernels()) {
      std::vector<std::uint16_t> codes(values.size());
      set->narrow_even(values.data(), static_cast<std::int64_t>(values.size()),
                       dtype == DType::fp16 ? Storage::fp16 : Storage::bf16, codes.data());
      for (std::size_t k = 0; k < values.size(); ++k)
        if (std::isnan(values[k]))
          ASSERT_TRUE(std::isnan(spec::from_bits(codes[k], format))) << k;
        else
          ASSERT_EQ(codes[k], spec::round_to_bits(values[k], format)) << values[k];
    }
  }
}

TEST(LaneKernels, NarrowEvenTakesAnyCountAndKeepsFp32) {
  const std::vector<float> values = numbers(40, 1);
  for (const Kernels* set : available_kernels())
    for (std::size_t count = 1; count <= values.size(); ++count) {
      std::vector<std::uint16_t> codes(count + 1, 0xABCD);
      const auto some = static_cast<std::int64_t>(count);
      set->narrow_even(values.data(), some, Storage::fp16, codes.data());
      for (std::size_t k = 0; k < count; ++k)
        ASSERT_EQ(codes[k], spec::round_to_bits(values[k], spec::fp16_format));
      ASSERT_EQ(codes[count], 0xABCD);
      std::vector<float> copy(count + 1, 7);
      set->narrow_even(values.data(), some, Storage::fp32, copy.data());
      ASSERT_EQ(std::memcmp(copy.data(), values.data(), count * sizeof(float)), 0);
      ASSERT_EQ(copy[count], 7);
    }
}

/// With groups that go forward along the rows and back along the columns, as windows do.
TEST(LaneKernels, LaneSumsAreOneFusedChainPerLaneForEveryShape) {
  constexpr std::int64_t stride = 80;
  const std::vector<float> a = numbers(24 * stride, 2), b = numbers(24 * stride, 3);
  const std::vector<float> before = numbers(24 * 24 * lanes, 4);
  for (const Kernels* set : available_kernels())
    for (const std::int64_t rows : {1, 2, 7, 8, 9, 23})
      for (const std::int64_t columns : {1, 2, 3, 4, 9})
        for (const std::int64_t depth : {16, 64, 80}) {
          std::vector<float> sums = before;
          set->add_lane_sums({.a = a.data(),
                              .a_row = stride,
                              .b = b.data(),
                              .b_row = stride,
                              .sums = sums.data() + 24 * (columns - 1) * lanes,
                              .sums_row = lanes,
                              .sums_column = -24 * lanes,
                              .rows = rows,
                              .columns = columns,
                              .depth = depth});
          std::vector<float> expected = before;
          for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t j = 0; j < columns; ++j)
              for (std::int64_t c = 0; c < depth; ++c) {
                float& sum = expected[static_cast<std::size_t>(
                    (24 * (columns - 1 - j) + i) * lanes + c % lanes)];
                sum = std::fma(a[static_cast<std::size_t>(i * stride + c)],
                               b[static_cast<std::size_t>(j * stride + c)], sum);
              }
          ASSERT_EQ(sums, expected) << rows << " x " << columns << " x " << depth;
        }
}

TEST(LaneKernels, LanesAreAddedPairwise) {
  const std::vector<float> x = numbers(lanes, 5);
  const auto at = [&](std::size_t l) { return (x[l] + x[l + 8]) + (x[l + 4] + x[l + 12]); };
  for (const Kernels* set : available_kernels())
    EXPECT_EQ(set->sum_of_lanes(x.data()), (at(0) + at(2)) + (at(1) + at(3)));
}

}  // namespace
