#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>

#include "assay/conformance/attention/exact_case.hpp"
#include "assay/conformance/inputs/random.hpp"

namespace assay::conformance {
namespace {

using spec::DType;
using spec::Overflow;
using spec::Rounding;

constexpr DType narrow_types[] = {DType::fp16, DType::bf16};

/// Converts a finite double to a dyadic number (integer times a power of two) without reading the
/// bits of the double.
Dyadic dyadic(double value) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return {static_cast<std::int64_t>(std::ldexp(fraction, 53)), exponent - 53};
}

std::uint32_t infinity_of(DType dtype) { return dtype == DType::fp16 ? 0x7c00u : 0x7f80u; }

TEST(RoundDyadic, GivesBackEveryFinitePatternInEveryMode) {
  for (const DType dtype : narrow_types)
    for (std::uint32_t bits = 0; bits < 0x10000u; ++bits) {
      if ((bits & 0x7fffu) >= infinity_of(dtype) || bits == 0x8000u) continue;
      const Dyadic exact = dyadic(spec::from_bits(bits, spec::format_of(dtype)));
      for (const Rounding mode :
           {Rounding::rne, Rounding::rna, Rounding::rtz, Rounding::unknown, Rounding::unknown_any})
        ASSERT_EQ(acceptable_bits(exact, dtype, mode, Overflow::inf), (AcceptableBits{bits, bits}));
    }
}

TEST(RoundDyadic, RoundsEveryMidpointAndItsSurroundings) {
  for (const DType dtype : narrow_types)
    for (std::uint32_t low = 0; low < 0x10000u; ++low) {
      const std::uint32_t high = low + 1;
      if ((low & 0x7fffu) >= infinity_of(dtype) - 1) continue;
      const spec::FloatFormat format = spec::format_of(dtype);
      const double one = spec::from_bits(low, format), other = spec::from_bits(high, format);
      const double middle = (one + other) / 2, step = (other - one) / 8;
      const std::uint32_t even = (low & 1) == 0 ? low : high;
      const auto bits = [&](double value, Rounding mode) {
        return round_dyadic(dyadic(value), dtype, mode, Overflow::inf);
      };
      ASSERT_EQ(bits(middle, Rounding::rne), even);
      ASSERT_EQ(bits(middle, Rounding::rna), high);
      ASSERT_EQ(bits(middle, Rounding::rtz), low);
      const AcceptableBits tie =
          acceptable_bits(dyadic(middle), dtype, Rounding::unknown, Overflow::inf);
      ASSERT_EQ(tie.first, even);
      ASSERT_EQ(tie.second, low + high - even);
      for (const Rounding mode : {Rounding::rne, Rounding::rna, Rounding::unknown}) {
        ASSERT_EQ(bits(middle - step, mode), low);
        ASSERT_EQ(bits(middle + step, mode), high);
      }
      ASSERT_EQ(bits(middle + step, Rounding::rtz), low);
      const AcceptableBits any =
          acceptable_bits(dyadic(middle - step), dtype, Rounding::stochastic, Overflow::inf);
      ASSERT_EQ(any, (AcceptableBits{low, high}));
    }
}

TEST(RoundDyadic, AgreesWithTheContractsRoundingOnRandomNumbers) {
  const conformance::Random random(7, 1);
  for (std::uint64_t k = 0; k < 200'000; ++k) {
    const Dyadic exact{.numerator = static_cast<std::int64_t>(random.bits(2 * k)) >>
                                    random.integer(2 * k + 1, 11, 63),
                       .exponent = static_cast<int>(random.integer(2 * k + 1, -170, 130))};
    const double value = std::ldexp(static_cast<double>(exact.numerator), exact.exponent);
    for (const DType dtype : {DType::fp16, DType::bf16, DType::fp32})
      ASSERT_EQ(round_dyadic(exact, dtype, Rounding::rne, Overflow::inf),
                value == 0 ? 0u : spec::round_to_bits(value, spec::format_of(dtype)));
  }
}

TEST(RoundDyadic, TakesNumeratorsOfAllSixtyFourBits) {
  const Dyadic smallest{.numerator = std::numeric_limits<std::int64_t>::min(), .exponent = -63};
  EXPECT_EQ(round_dyadic(smallest, DType::fp16, Rounding::rtz, Overflow::inf), 0xbc00u);
  const Dyadic tiny{.numerator = std::numeric_limits<std::int64_t>::max(), .exponent = -500};
  EXPECT_EQ(round_dyadic(tiny, DType::fp32, Rounding::rna, Overflow::inf), 0u);
  EXPECT_EQ(acceptable_bits(tiny, DType::fp32, Rounding::unknown_any, Overflow::inf),
            (AcceptableBits{0, 1}));
}

TEST(RoundDyadic, OverflowsAsDeclared) {
  const auto bits = [](std::int64_t value, Rounding rounding, Overflow overflow) {
    return acceptable_bits({value, 0}, DType::fp16, rounding, overflow);
  };
  constexpr std::uint32_t largest = 0x7bff, infinity = 0x7c00;
  EXPECT_EQ(bits(65519, Rounding::rne, Overflow::inf), (AcceptableBits{largest, largest}));
  EXPECT_EQ(bits(65520, Rounding::rne, Overflow::inf), (AcceptableBits{infinity, infinity}));
  EXPECT_EQ(bits(65520, Rounding::rna, Overflow::saturate), (AcceptableBits{largest, largest}));
  EXPECT_EQ(bits(65520, Rounding::rne, Overflow::either), (AcceptableBits{infinity, largest}));
  EXPECT_EQ(bits(1 << 20, Rounding::rtz, Overflow::inf), (AcceptableBits{largest, largest}));
  EXPECT_EQ(bits(65510, Rounding::stochastic, Overflow::inf), (AcceptableBits{largest, infinity}));
  EXPECT_EQ(bits(1 << 20, Rounding::unknown_any, Overflow::inf),
            (AcceptableBits{largest, infinity}));
  EXPECT_EQ(bits(-(1 << 20), Rounding::rna, Overflow::inf), (AcceptableBits{0xfc00u, 0xfc00u}));
}

}  // namespace
}  // namespace assay::conformance
