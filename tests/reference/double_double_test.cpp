#include "assay/reference/double_double.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "assay/reference/real.hpp"

namespace assay::reference {
namespace {

using Hundred = boost::multiprecision::cpp_bin_float_100;

Hundred exact(const DoubleDouble& x) { return Hundred(x.value) + Hundred(x.rest); }

/// Returns the error |got - wanted| divided by `size`.
double share(const DoubleDouble& got, const Hundred& wanted, const Hundred& size) {
  return static_cast<double>(Hundred(abs(Hundred(exact(got) - wanted)) / size));
}

/// Makes numbers of all magnitudes. Every second number nearly cancels the number before it.
class Numbers {
 public:
  DoubleDouble next() {
    const double value = std::ldexp(1 + std::abs(unit_(random_)), exponent_(random_));
    const DoubleDouble drawn = fast_sum(value, unit_(random_) * 0x1p-53 * value);
    last_ = ++count_ % 2 == 0
                ? -last_ * DoubleDouble(1 + unit_(random_) * std::ldexp(1, -(count_ % 90)))
                : drawn;
    return last_;
  }
  double unit() { return unit_(random_); }

 private:
  std::mt19937_64 random_{3};
  std::uniform_real_distribution<double> unit_{-1, 1};
  std::uniform_int_distribution<int> exponent_{-150, 150};
  DoubleDouble last_{1};
  int count_ = 0;
};

/// Tests bound D2 of docs/double_double.md. The errors must be below the bound, but close to it, so
/// that an additional error in any step would exceed the bound.
TEST(DoubleDouble, OperationsAreWithinTheirUnit) {
  Numbers numbers;
  double worst[4] = {};
  for (int k = 0; k < 20000; ++k) {
    const DoubleDouble x = numbers.next(), y = numbers.next();
    const auto note = [&](double& most, const DoubleDouble& got, const Hundred& wanted) {
      if (wanted == 0)
        EXPECT_EQ(got.value, 0);
      else
        most = std::max(most, share(got, wanted, abs(wanted)));
    };
    note(worst[0], x + y, exact(x) + exact(y));
    note(worst[1], x * y, exact(x) * exact(y));
    note(worst[2], x / y, exact(x) / exact(y));
    const DoubleDouble positive = x.value < 0 ? -x : x;
    note(worst[3], sqrt(positive), sqrt(exact(positive)));
  }
  for (const double most : worst) {
    EXPECT_LT(most, double_double_unit);
    EXPECT_GT(most, 0x1p-8 * double_double_unit);
  }
}

/// D4.
TEST(DoubleDouble, ExpIsWithinItsStatedError) {
  Numbers numbers;
  double worst = 0;
  for (int k = 0; k < 20000; ++k) {
    const double around = k % 3 == 0 ? std::ldexp(1, -(k % 100)) : k % 3 == 1 ? 600 : 300;
    DoubleDouble x = fast_sum(around * numbers.unit(), 0x1p-53 * numbers.unit());
    if (k % 3 == 1 && x.value > 0) x = -x;
    if (k % 7 == 0)
      x = DoubleDouble(std::nextafter((k % 900 - 860.5) * 0.693147180559945309, k % 2));
    if (x.value > 300) continue;
    worst = std::max(worst, share(exp(x), exp(exact(x)), exp(exact(x))));
  }
  EXPECT_LT(worst, double_double_exp_error);
  EXPECT_GT(worst, 0x1p-9 * double_double_exp_error);
}

TEST(DoubleDouble, ExpOfLargeArgumentsIsZeroOrInfinite) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(exp(DoubleDouble(-691)).value, 0);
  EXPECT_EQ(exp(DoubleDouble(-1e300)).value, 0);
  EXPECT_EQ(exp(DoubleDouble(0)).value, 1);
  EXPECT_TRUE(std::isfinite(exp(DoubleDouble(300)).value));
  for (const DoubleDouble& x : {DoubleDouble(300.1), DoubleDouble(infinity),
                                DoubleDouble(-infinity, std::nan("")), DoubleDouble(std::nan(""))})
    EXPECT_TRUE(std::isnan(exp(x).value));
}

/// If a computation overflows, its result is not finite. All results that use it are not finite
/// either.
TEST(DoubleDouble, NonFiniteValuesStayNonFinite) {
  const auto is_finite = [](const DoubleDouble& x) {
    return std::isfinite(x.value) && std::isfinite(x.rest);
  };
  const DoubleDouble large(0x1p1000), infinite = large * large;
  EXPECT_FALSE(is_finite(infinite));
  EXPECT_FALSE(is_finite(DoubleDouble(1) / infinite));
  EXPECT_FALSE(is_finite(infinite - infinite));
  EXPECT_FALSE(is_finite(exp(-infinite)));
  EXPECT_FALSE(is_finite(DoubleDouble(1) / DoubleDouble(0)));
  std::vector<DoubleDouble> sum(1);
  add_scaled(sum, infinite, {0.0F});
  EXPECT_FALSE(is_finite(sum[0]));
}

/// Tests bound D3 of docs/double_double.md for sums with cancellation, and for numbers of very
/// different sizes.
TEST(DoubleDouble, DotProductsAndSumsAreWithinUnitsOfTheirMagnitudes) {
  Numbers numbers;
  double worst_dot = 0, worst_sum = 0;
  for (std::size_t size : {1, 3, 8, 13, 64, 128, 192, 576})
    for (int time = 0; time < 40; ++time) {
      std::vector<float> a(size), b(size);
      for (std::size_t d = 0; d < size; ++d) {
        const int exponent = static_cast<int>(d * 37 % 61) - (time % 3 == 0 ? 120 : 30);
        a[d] = static_cast<float>(std::ldexp(numbers.unit(), exponent));
        b[d] = static_cast<float>(std::ldexp(numbers.unit(), time % 5 == 0 ? -exponent : exponent));
      }
      if (time % 2 == 0 && size > 1) a.back() = -a.front(), b.back() = b.front();
      Hundred sum = 0, magnitudes = 0;
      for (std::size_t d = 0; d < size; ++d) {
        sum += Hundred(a[d]) * Hundred(b[d]);
        magnitudes += abs(Hundred(a[d]) * Hundred(b[d]));
      }
      const double terms = static_cast<double>(size) + 4;
      worst_dot = std::max(worst_dot, share(dot(a, b), sum, terms * magnitudes));
      std::vector<DoubleDouble> sums(1);
      Hundred scaled = 0, sizes = 0;
      for (std::size_t d = 0; d < size; ++d) {
        const DoubleDouble factor = numbers.next();
        add_scaled(sums, factor, {a[d]});
        scaled += exact(factor) * Hundred(a[d]);
        sizes += abs(exact(factor) * Hundred(a[d]));
      }
      worst_sum = std::max(worst_sum, share(sums[0], scaled, terms * sizes));
    }
  for (const double most : {worst_dot, worst_sum}) {
    EXPECT_LT(most, double_double_unit);
    EXPECT_GT(most, 0x1p-14 * double_double_unit);
  }
}

}  // namespace
}  // namespace assay::reference
