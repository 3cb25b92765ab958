#include "assay/reference/exp.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "assay/reference/real.hpp"

namespace assay::reference {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// ln 2^-1022, the logarithm of the smallest normal number of double.
constexpr double ln_smallest_normal = -708.3964185322641;

/// Returns the relative error of exp(x), compared with the result in 113 bits.
double relative_error(double x) {
  const Quad exact = exp(Quad(x));
  return std::abs(static_cast<double>((Quad(exp(x)) - exact) / exact));
}

TEST(Exp, IsWithinItsStatedErrorOverTheWholeRange) {
  double worst = 0.0;
  for (int k = 0; k < 6000; ++k) {
    // The arguments are multiples of a nearly irrational step, so they never coincide with the
    // points at which the argument reduction changes.
    const double x = ln_smallest_normal * (k + 0.31830988618379) / 6000.0;
    worst = std::max(worst, relative_error(x));
  }
  EXPECT_LT(worst, exp_error);
}

TEST(Exp, IsWithinItsStatedErrorWhereTheReductionChangesItsInteger) {
  double worst = 0.0;
  for (int k = 1; k < 1021; ++k) {
    const double edge = -(k - 0.5) * 0.693147180559945309;
    for (const double x : {edge, std::nextafter(edge, 0.0), std::nextafter(edge, -infinity)})
      worst = std::max(worst, relative_error(x));
  }
  EXPECT_LT(worst, exp_error);
}

TEST(Exp, IsWithinItsStatedErrorForSmallAndForPositiveArguments) {
  for (int k = 1; k < 80; ++k) {
    EXPECT_LT(relative_error(-std::ldexp(1.0, -k)), exp_error) << k;
    EXPECT_LT(relative_error(8.9 * k), exp_error) << k;
  }
}

/// The certification of references (proving their error radii) relies on this accuracy.
TEST(Exp, ManyDigitsAreGoodToTwoToTheMinus240) {
  using Digits100 = boost::multiprecision::cpp_bin_float_100;
  Digits100 worst = 0;
  for (int k = 0; k < 4000; ++k) {
    const double x = ln_smallest_normal * (k + 0.31830988618379) / 4000.0,
                 y = -std::ldexp(1.0, k % 200 - 192);
    for (const SeventyFive& argument :
         {SeventyFive(x), SeventyFive(x) / 32, SeventyFive(x) + SeventyFive(y)}) {
      const Digits100 exact = exp(Digits100(argument));
      worst = std::max(worst, Digits100(abs(Digits100(exp(argument)) - exact) / exact));
    }
  }
  EXPECT_LT(worst, 0x1p-240);
  EXPECT_GT(worst, 0x1p-252);
}

TEST(Exp, ZeroGivesOne) {
  EXPECT_EQ(exp(0.0), 1.0);
  EXPECT_EQ(exp(-0.0), 1.0);
}

TEST(Exp, IsZeroExactlyBelowTheSmallestNormal) {
  EXPECT_GE(exp(ln_smallest_normal), 0x1p-1022);
  for (const double x : {-708.3965, -709.0, -709.1, -745.0, -1e4, -3.4e38, -1e308, -infinity}) {
    EXPECT_EQ(exp(x), 0.0) << x;
    EXPECT_FALSE(std::signbit(exp(x))) << x;
  }
}

TEST(Exp, OverflowsToInfinityAndKeepsNaN) {
  EXPECT_TRUE(std::isfinite(exp(709.78)));
  for (const double x : {709.79, 710.0, 1e5, infinity}) EXPECT_EQ(exp(x), infinity) << x;
  EXPECT_TRUE(std::isnan(exp(std::numeric_limits<double>::quiet_NaN())));
}

[[gnu::noinline]] double one_exp(double x) { return exp(x); }

TEST(Exp, HasTheSameBitsInALoopAndAlone) {
  std::vector<double> x(1001), y(1001);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = -0.7131 * static_cast<double>(k);
  for (std::size_t k = 0; k < x.size(); ++k) y[k] = exp(x[k]);
  for (std::size_t k = 0; k < x.size(); ++k)
    ASSERT_EQ(std::bit_cast<std::uint64_t>(y[k]), std::bit_cast<std::uint64_t>(one_exp(x[k])));
}

}  // namespace
}  // namespace assay::reference
