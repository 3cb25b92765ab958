#include "rounding.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace assay::mutants {
namespace {

using spec::DType;
using spec::Rounding;

float value_of(std::uint32_t bits, DType type) {
  return static_cast<float>(from_bits(bits, spec::format_of(type)));
}

/// Returns the bit pattern of the largest finite number. The patterns of all smaller non-negative
/// numbers are smaller.
std::uint32_t below_largest(DType type) { return type == DType::fp16 ? 0x7bff : 0x7f7f; }

class EveryPattern : public testing::TestWithParam<DType> {};

TEST_P(EveryPattern, IsKeptInEveryMode) {
  for (std::uint32_t bits = 0; bits <= below_largest(GetParam()); ++bits)
    for (const Rounding mode : {Rounding::rne, Rounding::rna, Rounding::rtz}) {
      const float value = value_of(bits, GetParam());
      ASSERT_EQ(rounded(value, GetParam(), mode), value);
      ASSERT_EQ(rounded(-value, GetParam(), mode), -value);
    }
}

TEST_P(EveryPattern, RoundsTheMidpointToItsNeighbourByMode) {
  for (std::uint32_t bits = 0; bits < below_largest(GetParam()); ++bits) {
    const float below = value_of(bits, GetParam()), above = value_of(bits + 1, GetParam());
    const float middle = below + (above - below) / 2;
    ASSERT_EQ(rounded(middle, GetParam(), Rounding::rna), above);
    ASSERT_EQ(rounded(middle, GetParam(), Rounding::rtz), below);
    ASSERT_EQ(rounded(middle, GetParam(), Rounding::rne), bits % 2 == 0 ? below : above);
    ASSERT_EQ(rounded(-middle, GetParam(), Rounding::rna), -above);
  }
}

TEST_P(EveryPattern, RoundsNeighboursOfTheMidpointToNearest) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (std::uint32_t bits = 0; bits < below_largest(GetParam()); ++bits) {
    const float below = value_of(bits, GetParam()), above = value_of(bits + 1, GetParam());
    const float middle = below + (above - below) / 2;
    for (const Rounding mode : {Rounding::rne, Rounding::rna}) {
      ASSERT_EQ(rounded(std::nextafter(middle, 0.0f), GetParam(), mode), below);
      ASSERT_EQ(rounded(std::nextafter(middle, infinity), GetParam(), mode), above);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rounding, EveryPattern, testing::Values(DType::fp16, DType::bf16),
                         [](const auto& type) { return std::string(to_string(type.param)); });

TEST(Rounding, OverflowIsInfiniteUnlessItTruncates) {
  EXPECT_EQ(rounded(65519.0f, DType::fp16, Rounding::rne), 65504.0f);
  EXPECT_EQ(rounded(65520.0f, DType::fp16, Rounding::rne), std::numeric_limits<float>::infinity());
  EXPECT_EQ(rounded(-70000.0f, DType::fp16, Rounding::rna),
            -std::numeric_limits<float>::infinity());
  EXPECT_EQ(rounded(1e9f, DType::fp16, Rounding::rtz), 65504.0f);
}

TEST(Rounding, ShortenedKeepsElevenBits) {
  EXPECT_EQ(shortened(2049.0f, 11), 2048.0f);
  EXPECT_EQ(shortened(2051.0f, 11), 2052.0f);
  EXPECT_EQ(shortened(-0x1.004p-100f, 11), -0x1.004p-100f);
  EXPECT_EQ(shortened(0.0f, 11), 0.0f);
}

}  // namespace
}  // namespace assay::mutants
