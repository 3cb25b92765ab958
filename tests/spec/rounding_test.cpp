#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "assay/spec/dtype.hpp"
#include "assay/spec/tensor.hpp"

namespace assay::spec {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Returns the value of a 16-bit pattern. It is computed in double, independently of the library.
double value_of(std::uint32_t bits, FloatFormat format) {
  const int fraction_bits = format.significand_bits - 1;
  const std::uint32_t fraction = bits & ((1u << fraction_bits) - 1);
  const int field = static_cast<int>((bits & 0x7fffu) >> fraction_bits);
  const int highest = format.max_exponent - format.min_exponent + 2;
  const double sign = (bits & 0x8000u) != 0 ? -1.0 : 1.0;
  if (field == highest)
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * infinity;
  if (field == 0) {
    const double unit = std::bit_cast<double>(
        static_cast<std::uint64_t>(format.min_exponent - fraction_bits + 1023) << 52);
    return sign * unit * static_cast<double>(fraction);
  }
  const auto exponent = static_cast<std::uint64_t>(field - 1 + format.min_exponent + 1023);
  return sign * std::bit_cast<double>(exponent << 52 | static_cast<std::uint64_t>(fraction)
                                                           << (52 - fraction_bits));
}

/// Rounds to the nearest 16-bit number, ties to even. `value` may be any double between two
/// consecutive 16-bit numbers, because its distances to both are exact.
std::uint32_t nearest(double value, FloatFormat format) {
  const std::uint32_t sign = std::signbit(value) ? 0x8000u : 0u;
  const double magnitude = std::fabs(value);
  const std::uint32_t top =
      static_cast<std::uint32_t>(format.max_exponent - format.min_exponent + 2)
      << (format.significand_bits - 1);
  const double beyond = std::ldexp(1.0, format.max_exponent + 1);  // one exponent further
  std::uint32_t low = 0, high = top;
  const auto at = [&](std::uint32_t bits) { return bits == top ? beyond : value_of(bits, format); };
  if (magnitude >= beyond) return sign | top;
  while (high - low > 1) {
    const std::uint32_t middle = (low + high) / 2;
    (at(middle) <= magnitude ? low : high) = middle;
  }
  const double down = magnitude - at(low), up = at(high) - magnitude;
  if (down != up) return sign | (down < up ? low : high);
  return sign | (low % 2 == 0 ? low : high);
}

/// Returns a value, its two neighbouring doubles, and the negatives of these three numbers.
std::array<double, 6> around(double value) {
  const double below = std::nextafter(value, -infinity), above = std::nextafter(value, infinity);
  return {value, below, above, -value, -below, -above};
}

class NarrowFormat : public testing::TestWithParam<DType> {
 protected:
  FloatFormat format() const { return format_of(GetParam()); }
};

TEST_P(NarrowFormat, ReadsEveryPattern) {
  for (std::uint32_t bits = 0; bits < 0x10000u; ++bits) {
    const auto stored = static_cast<std::uint16_t>(bits);
    std::array<std::byte, 2> element;
    std::memcpy(element.data(), &stored, 2);
    const double expected = value_of(bits, format());
    for (const double actual : {from_bits(bits, format()), load(GetParam(), element.data())}) {
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(actual)) << bits;
      } else {
        ASSERT_EQ(std::bit_cast<std::uint64_t>(actual), std::bit_cast<std::uint64_t>(expected))
            << bits;
      }
    }
  }
}

/// Makes a tensor that contains every 16-bit pattern, with a stride of `step` elements.
Tensor every_pattern(DType dtype, std::int64_t step) {
  Tensor tensor = contiguous_tensor(dtype, {0x10000 * step});
  for (std::uint32_t bits = 0; bits < 0x10000u; ++bits) {
    const auto stored = static_cast<std::uint16_t>(bits);
    std::memcpy(tensor.bytes.data() + 2 * step * bits, &stored, 2);
  }
  return tensor;
}

TEST_P(NarrowFormat, ReadsEveryPatternOfARow) {
  for (const std::int64_t step : {1, 3}) {
    const Tensor tensor = every_pattern(GetParam(), step);
    std::vector<double> row(0x10000);
    load_row(tensor, 0, step, row);
    std::vector<float> in_float(row.size());
    load_row(tensor, 0, step, in_float);
    for (std::uint32_t bits = 0; bits < 0x10000u; ++bits) {
      const double expected = value_of(bits, format());
      ASSERT_EQ(std::signbit(in_float[bits]), std::signbit(row[bits])) << bits;
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(row[bits])) << bits;
        ASSERT_TRUE(std::isnan(in_float[bits])) << bits;
        if (GetParam() == DType::fp16) {
          const auto quiet_bit = 1u << 22;
          ASSERT_NE(std::bit_cast<std::uint32_t>(in_float[bits]) & quiet_bit, 0) << bits;
        }
      } else {
        ASSERT_EQ(static_cast<double>(in_float[bits]), expected) << bits;
        ASSERT_EQ(std::bit_cast<std::uint64_t>(row[bits]), std::bit_cast<std::uint64_t>(expected))
            << bits << ' ' << step;
      }
    }
  }
}

TEST_P(NarrowFormat, WritesARowAsItWritesItsElements) {
  std::vector<double> row;
  for (std::uint32_t bits = 0; bits < 0x10000u; bits += 7)
    for (const double x : around(value_of(bits, format()))) row.push_back(x);
  for (const std::int64_t step : {1, 3}) {
    Tensor tensor = contiguous_tensor(GetParam(), {std::ssize(row) * step});
    store_row(tensor, 0, step, row);
    for (std::size_t k = 0; k < row.size(); ++k) {
      std::array<std::byte, 2> element;
      store(GetParam(), row[k], element.data());
      ASSERT_EQ(std::memcmp(tensor.bytes.data() + 2 * step * static_cast<std::int64_t>(k),
                            element.data(), 2),
                0)
          << std::hexfloat << row[k];
    }
  }
}

TEST_P(NarrowFormat, WritesEveryPatternBack) {
  for (std::uint32_t bits = 0; bits < 0x10000u; ++bits) {
    const double value = value_of(bits, format());
    std::array<std::byte, 2> element;
    std::uint16_t stored;
    store(GetParam(), value, element.data());
    std::memcpy(&stored, element.data(), 2);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(value_of(stored, format()))) << bits;
    } else {
      ASSERT_EQ(stored, bits);
      ASSERT_EQ(round_to(value, format()), value);
    }
  }
}

TEST_P(NarrowFormat, RoundsEveryPatternsNeighboursMidpointsAndTheirNeighbours) {
  const std::uint32_t top = round_to_bits(infinity, format());
  for (std::uint32_t bits = 0; bits < top; ++bits) {
    const double value = value_of(bits, format());
    const double next =
        bits + 1 == top ? std::ldexp(1.0, format().max_exponent + 1) : value_of(bits + 1, format());
    const double middle = value + (next - value) / 2;
    const double quarter = value + (next - value) / 4;
    for (const double point : {value, middle, quarter})
      for (const double x : around(point))
        ASSERT_EQ(round_to_bits(x, format()), nearest(x, format())) << std::hexfloat << x;
  }
}

TEST_P(NarrowFormat, SendsTiesToTheEvenNeighbour) {
  const std::uint32_t top = round_to_bits(infinity, format());
  for (std::uint32_t bits = 0; bits + 1 < top; ++bits) {
    const double low = value_of(bits, format()), high = value_of(bits + 1, format());
    const std::uint32_t even = bits % 2 == 0 ? bits : bits + 1;
    ASSERT_EQ(round_to_bits(low + (high - low) / 2, format()), even) << bits;
    ASSERT_EQ(round_to_bits(-(low + (high - low) / 2), format()), even | 0x8000u) << bits;
  }
}

TEST_P(NarrowFormat, OverflowsToInfinityFromHalfAStepAboveTheLargest) {
  const double largest = value_of(round_to_bits(infinity, format()) - 1, format());
  const double step = std::ldexp(1.0, format().max_exponent - format().significand_bits + 1);
  EXPECT_EQ(round_to(largest + step / 2, format()), infinity);
  EXPECT_EQ(round_to(std::nextafter(largest + step / 2, 0.0), format()), largest);
  EXPECT_EQ(round_to(-infinity, format()), -infinity);
  EXPECT_EQ(round_to(std::numeric_limits<double>::max(), format()), infinity);
}

TEST_P(NarrowFormat, UnderflowsToAZeroOfTheSameSign) {
  const double smallest = value_of(1, format());
  EXPECT_EQ(round_to_bits(smallest / 2, format()), 0u);
  EXPECT_EQ(round_to_bits(-smallest / 2, format()), 0x8000u);
  EXPECT_EQ(round_to_bits(std::nextafter(smallest / 2, 1.0), format()), 1u);
  EXPECT_EQ(round_to_bits(std::numeric_limits<double>::denorm_min(), format()), 0u);
  EXPECT_EQ(round_to_bits(-0.0, format()), 0x8000u);
}

TEST_P(NarrowFormat, KeepsNanAndMakesItQuiet) {
  const double payload = std::bit_cast<double>(std::uint64_t{0x7ff0000000000001u});
  const std::uint32_t bits = round_to_bits(payload, format());
  EXPECT_TRUE(std::isnan(value_of(bits, format())));
  EXPECT_NE(bits & (1u << (format().significand_bits - 2)), 0u);
}

TEST_P(NarrowFormat, RoundsOnceNotByWayOfSinglePrecision) {
  const double half_step = std::ldexp(1.0, -format().significand_bits);
  const double above_tie = 1.0 + half_step + 0x1p-40;  // float would round to the tie, then down
  EXPECT_EQ(round_to(above_tie, format()), 1.0 + 2 * half_step);
  EXPECT_EQ(round_to(static_cast<double>(static_cast<float>(above_tie)), format()), 1.0);
}

INSTANTIATE_TEST_SUITE_P(Rounding, NarrowFormat, testing::Values(DType::fp16, DType::bf16),
                         [](const auto& type) { return std::string(to_string(type.param)); });

/// Expects the same result as the processor's own cast to nearest, ties to even.
void expect_as_the_processor(double x) {
  const float narrowed = static_cast<float>(x);
  ASSERT_EQ(round_to_bits(x, fp32_format), std::bit_cast<std::uint32_t>(narrowed))
      << std::hexfloat << x;
}

/// Tests a float, the next smaller and the next larger float, and numbers around the middle between
/// two consecutive floats.
void expect_around(std::uint32_t bits) {
  const double value = std::bit_cast<float>(bits);
  const double next = bits == 0x7f7fffffu ? 0x1p128 : std::bit_cast<float>(bits + 1);
  for (const double point : {value, value + (next - value) / 2})
    for (const double x : around(point)) expect_as_the_processor(x);
}

TEST(SinglePrecision, RoundsAtTheEdgesOfEveryBinadeAsTheProcessorDoes) {
  for (std::uint32_t exponent = 0; exponent < 255; ++exponent)
    for (const std::uint32_t fraction :
         {0x0u, 0x1u, 0x2u, 0x3u, 0x3fffffu, 0x400000u, 0x555555u, 0x7ffffdu, 0x7ffffeu, 0x7fffffu})
      expect_around(exponent << 23 | fraction);
}

TEST(SinglePrecision, RoundsSubnormalsAsTheProcessorDoes) {
  for (std::uint32_t bits = 0; bits < 0x2000u; ++bits) {
    expect_around(bits);
    expect_around(0x7fffffu - bits);
    expect_around(0x800000u + bits);
  }
}

TEST(SinglePrecision, RoundsScatteredDoublesAsTheProcessorDoes) {
  std::uint64_t state = 1;
  for (int k = 0; k < 200000; ++k) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto exponent = static_cast<std::uint64_t>(1023 - 160 + k % 320);
    expect_as_the_processor(
        std::bit_cast<double>((state >> 63) << 63 | exponent << 52 | (state >> 12)));
  }
}

TEST(SinglePrecision, OverflowsFromHalfAStepAboveTheLargest) {
  EXPECT_EQ(round_to(0x1.ffffffp127, fp32_format), infinity);
  EXPECT_EQ(round_to(0x1.fffffefffffffp127, fp32_format), 0x1.fffffep127);
  EXPECT_TRUE(std::isnan(round_to(std::numeric_limits<double>::quiet_NaN(), fp32_format)));
}

TEST(SinglePrecision, ReadsBackWhatItStores) {
  for (const float value : {0.0f, -0.0f, 1.5f, -0x1p-149f, 0x1.fffffep127f}) {
    std::array<std::byte, 4> element;
    store(DType::fp32, value, element.data());
    EXPECT_EQ(load(DType::fp32, element.data()), static_cast<double>(value));
  }
}

TEST(OtherTypes, HoldTheirExtremes) {
  const auto kept = [](DType type, double value) {
    std::array<std::byte, 8> element;
    store(type, value, element.data());
    return load(type, element.data());
  };
  EXPECT_EQ(kept(DType::int8, -128), -128);
  EXPECT_EQ(kept(DType::uint8, 255), 255);
  EXPECT_EQ(kept(DType::boolean, 1), 1);
  EXPECT_EQ(kept(DType::int16, -32768), -32768);
  EXPECT_EQ(kept(DType::uint16, 65535), 65535);
  EXPECT_EQ(kept(DType::int32, -0x1p31), -0x1p31);
  EXPECT_EQ(kept(DType::uint32, 0x1p32 - 1), 0x1p32 - 1);
  EXPECT_EQ(kept(DType::int64, -0x1p62), -0x1p62);
  EXPECT_EQ(kept(DType::uint64, 0x1p63), 0x1p63);
  EXPECT_EQ(kept(DType::fp64, 0.1), 0.1);
  EXPECT_EQ(kept(DType::int32, -2.75), -2);
}

TEST(OtherTypes, EightBitFloatsHaveNoValues) {
  std::array<std::byte, 8> element{};
  for (const DType type : {DType::hifloat8, DType::float8_e5m2, DType::float8_e4m3fn}) {
    EXPECT_THROW(load(type, element.data()), std::invalid_argument);
    EXPECT_THROW(store(type, 1.0, element.data()), std::invalid_argument);
    EXPECT_THROW(format_of(type), std::invalid_argument);
    EXPECT_EQ(size_of(type), 1);
  }
}

TEST(OtherTypes, HaveTheSizesOfTheirNames) {
  EXPECT_EQ(size_of(DType::fp64), 8);
  EXPECT_EQ(size_of(DType::int64), 8);
  EXPECT_EQ(size_of(DType::fp32), 4);
  EXPECT_EQ(size_of(DType::uint32), 4);
  EXPECT_EQ(size_of(DType::fp16), 2);
  EXPECT_EQ(size_of(DType::bf16), 2);
  EXPECT_EQ(size_of(DType::int16), 2);
  EXPECT_EQ(size_of(DType::boolean), 1);
}

/// Rounds an fp32 pattern to bf16, which is the upper half of fp32. Adds a number to the lower
/// half. This addition carries into the upper half if rounding to nearest, ties to even, must round
/// up.
std::uint32_t upper_half(std::uint32_t pattern) {
  return (pattern + 0x7fffu + ((pattern >> 16) & 1u)) >> 16;
}

TEST(Nightly, NarrowsEveryThirdFloatToBf16) {
  for (std::uint32_t bits = 0; bits <= 0x7f800000u; bits += 3)
    ASSERT_EQ(round_to_bits(std::bit_cast<float>(bits), bf16_format), upper_half(bits)) << bits;
}

TEST(Nightly, NarrowsEverySeventhFloatOfItsRangeToFp16) {
  const auto first = std::bit_cast<std::uint32_t>(0x1p-27f);
  const auto last = std::bit_cast<std::uint32_t>(0x1p17f);
  for (std::uint32_t bits = first; bits <= last; bits += 7) {
    const double value = std::bit_cast<float>(bits);
    ASSERT_EQ(round_to_bits(value, fp16_format), nearest(value, fp16_format)) << bits;
  }
}

}  // namespace
}  // namespace assay::spec
