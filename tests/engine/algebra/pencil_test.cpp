#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "assay/engine/algebra/bound.hpp"
#include "assay/engine/algebra/injection.hpp"
#include "assay/engine/algebra/plain.hpp"
#include "bilinear/arithmetic.hpp"

/// Tests the equations of engine/README.md with numbers that can be checked by hand.
namespace assay::engine {
namespace {

using Number = Tolerance<double, 1>;
using Reading = ToleranceReading<double, 1>;

const Store bfloat16(8, -126, Direction::nearest_even);
const Store half(11, -14, Direction::nearest_even);

// A2.
TEST(Store, RoundsByHalfAStepOfTheNumber) {
  EXPECT_EQ(bfloat16.error(1.0), 0x1p-8);
  EXPECT_EQ(bfloat16.error(1.99), 0x1p-8);
  EXPECT_EQ(half.error(6.0), 0x1p-9);
  EXPECT_EQ(half.error(0x1p-20), 0x1p-25);
  EXPECT_EQ(half.error(0x1p-30), 0x1p-30);  // the error is never larger than the number itself
  EXPECT_EQ(half.error(0.0), 0);
  EXPECT_EQ(Store().error(1.0), 0);
  EXPECT_EQ(Store(8, -126, Direction::truncated).error(1.0), 0x1p-7);
  EXPECT_EQ(Store(11, -14, Direction::stochastic).error(0x1p-30), 0x1p-24);
  EXPECT_FALSE(Store(8, -126, Direction::truncated).mean_free());
}

// A3.
TEST(Store, HasAKnownErrorIfNoiseReachesNoTie) {
  const double third = 1.0 / 3;  // its neighbours are 2^-9 apart, and 171 * 2^-9 is the nearest
  EXPECT_DOUBLE_EQ(bfloat16.drift(third, 0.0), 171 * 0x1p-9 - third);
  EXPECT_DOUBLE_EQ(bfloat16.drift(-third, 0.0), third - 171 * 0x1p-9);
  EXPECT_EQ(bfloat16.drift(third, 0x1p-9), 0);          // the noise can reach any neighbour
  EXPECT_EQ(bfloat16.drift(1 + 0x1p-8, 0.0), -0x1p-8);  // a tie rounds to even
  EXPECT_EQ(Store(8, -126, Direction::nearest_away).drift(1 + 0x1p-8, 0.0), 0x1p-8);
  EXPECT_EQ(Store(8, -126, Direction::nearest_away).drift(-1 - 0x1p-8, 0.0), -0x1p-8);
  EXPECT_EQ(Store(8, -126, Direction::truncated).drift(third, 0.0), 0);
}

TEST(Store, LanesRoundAsOneDoubleDoes) {
  Lanes x{};
  for (int k = 0; k < lanes_of<Lanes>; ++k)
    x[k] = std::ldexp(0.7 + 0.13 * k, 3 * k - 20) * (k % 2 ? -1 : 1);
  const Lanes error = half.error(magnitude_of(x)), drift = half.drift(x, Lanes{});
  const Lanes power = exponential(x), generated = growth(magnitude_of(x));
  for (int k = 0; k < lanes_of<Lanes>; ++k) {
    EXPECT_EQ(error[k], half.error(std::abs(x[k])));
    EXPECT_EQ(drift[k], half.drift(static_cast<double>(x[k]), 0.0));
    EXPECT_EQ(power[k], exponential(static_cast<double>(x[k])));
    EXPECT_EQ(generated[k], growth(std::abs(x[k])));
  }
}

// B2.
TEST(Exponential, IsWithinItsProvenErrorAndRightAtTheEnds) {
  double worst = 0;
  for (double x = -708; x < 709; x += 0.0371) {
    const Naive exact = exp(Naive(x)), error = abs(Naive(exponential(x)) - exact) / exact;
    worst = std::max(worst, error.convert_to<double>());
  }
  EXPECT_LE(worst, exponential_error);
  EXPECT_GE(worst, exponential_error / 64);
  EXPECT_EQ(exponential(0.0), 1);
  EXPECT_EQ(exponential(-800.0), 0);
  EXPECT_EQ(exponential(800.0), HUGE_VAL);
  EXPECT_TRUE(std::isnan(exponential(std::nan(""))));
}

TEST(Exponential, GrowthIsNeverTooSmall) {
  for (double x = 0x1p-40; x < 30; x *= 1.37) {
    const Naive exact = boost::multiprecision::expm1(Naive(x));
    EXPECT_GE(Naive(growth(x)), exact) << x;
    EXPECT_LE(growth(x), exact.convert_to<double>() * (1 + 0x1p-11)) << x;
    EXPECT_EQ(growth_at(-1.0, x), growth(x));
  }
}

// A4.
TEST(Tolerance, DotProductOfFourTermsErrsByEightUnitsOfTheirMagnitudes) {
  const Units units = {.u_sum = 0x1p-10, .operands = 0x1p-6};
  const Reading on(units, {});
  const Number x = on.dot({.sum = 3, .magnitudes = 5, .squares = 9}, 4);
  EXPECT_EQ(x.value, 3);
  EXPECT_EQ(x.rigorous, 5 * 8 * 0x1p-10 + 5 * 0x1p-6);
  EXPECT_EQ(x.additive, x.rigorous);
  EXPECT_EQ(x.squares, std::pow(5 * 4 * 0x1p-10, 2));
  EXPECT_EQ(x.shared, 5 * 0x1p-6);
  EXPECT_EQ(x.moment, 0x1p-20 * (3 * 9 + 4.0 / 3 * 9));
  const Units cut = {.u_sum = 0x1p-10, .truncating = true};
  const Number y = Reading(cut, {}).dot({3, 5, 9}, 4);
  EXPECT_EQ(y.squares, 0);
  EXPECT_EQ(y.shared, 5 * 8 * 0x1p-10);
}

// A5.
TEST(Tolerance, AProductTakesErrorsByTheProductRuleAndKeepsTheSecondOrder) {
  const Number x = {.value = 2,
                    .rigorous = 0.5,
                    .additive = 0.25,
                    .squares = 0.01,
                    .moment = 0.02,
                    .shared = 0.125,
                    .by = {-1}};
  const Number y = {.value = -3,
                    .rigorous = 0.25,
                    .additive = 0.25,
                    .squares = 0.04,
                    .moment = 0.01,
                    .shared = 0.0625,
                    .by = {2}};
  const Number product = x * y;
  EXPECT_EQ(product.value, -6);
  EXPECT_EQ(product.rigorous, 2 * 0.25 + 3 * 0.5 + 0.125);
  EXPECT_EQ(product.additive, 2 * 0.25 + 3 * 0.25 + 0.125);
  EXPECT_DOUBLE_EQ(product.squares, 4 * 0.04 + 9 * 0.01);
  EXPECT_DOUBLE_EQ(product.moment, 4 * 0.01 + 9 * 0.02);
  EXPECT_EQ(product.shared, 2 * 0.0625 + 3 * 0.125 + 0.125);
  EXPECT_EQ(product.by[0], 2 * 2 + -3 * -1);
  const Number difference = x - y;
  EXPECT_EQ(difference.rigorous, 0.75);
  EXPECT_EQ(difference.by[0], -3);
  const Number scaled = x * -4.0;
  EXPECT_EQ(scaled.value, -8);
  EXPECT_EQ(scaled.rigorous, 2);
  EXPECT_DOUBLE_EQ(scaled.squares, 0.16);
  EXPECT_EQ(scaled.by[0], 4);
}

// A1, A5.
TEST(Tolerance, ARowsSymbolCancelsInADifferenceOfItself) {
  const Units units;
  const Reading on(units, {Symbol{.rigorous = 0.5}});
  const Number x = on.symbol(0, 3.0), rest = x - x;
  EXPECT_EQ(rest.value, 0);
  EXPECT_EQ(rest.by[0], 0);
  EXPECT_EQ(rest.additive, 0);
}

// A6.
TEST(Tolerance, AnExponentialGrowsItsErrorAndKeepsTheRowsShareInItsDerivative) {
  const Units units;
  const Reading on(units, {Symbol{.rigorous = 0.25}});
  Number x = on.symbol(0, 0.0);
  x.rigorous += 0.5;
  x.additive += 0.5;
  x.squares = 0.25;
  const Number p = on.exponential(x, 2.0, 0.125);
  const double rho = std::expm1(0.875);
  EXPECT_EQ(p.value, 0.5);
  EXPECT_NEAR(p.rigorous, rho / 2, 1e-10);
  EXPECT_NEAR(p.additive, (rho - 0.25) / 2, 1e-10);  // without the row symbol's first-order error
  EXPECT_EQ(p.by[0], 0.5);
  EXPECT_EQ(p.squares, 0.0625);
  EXPECT_NEAR(p.shared, (0.125 + rho * rho) / 2, 1e-10);
}

// Equation A6 of engine/README.md. Below e^-709 the exponential counts as 0. The bound of such a P
// has a separate term for small errors, so the error here is 0.
TEST(Tolerance, AnExponentialThatVanishesHasNoError) {
  const Reading on(Units{}, {});
  Number x = on.exact(-1e38);
  for (const double error : {0.0, 1e31, 0.9e38}) {
    x.rigorous = x.additive = x.shared = error;
    x.squares = x.moment = error * error;
    const Number p = on.exponential(x, 2.0, 0.125);
    for (const double part : {p.value, p.rigorous, p.additive, p.shared, p.squares, p.moment})
      EXPECT_EQ(part, 0) << error;
  }
  EXPECT_EQ(growth_at(-1000.0, 290.0), 0);
  EXPECT_EQ(growth_at(-1000.0, 292.0), growth(292.0));
}

// A7.
TEST(Tolerance, AStoreRoundsWhatAKernelMayHave) {
  const Units units;
  const Reading on(units, {});
  const Number x = {.value = 1.9, .rigorous = 0.2, .additive = 0.2};
  const Number stored = on.stored(x, bfloat16);
  EXPECT_EQ(stored.rigorous, 0.2 + 0x1p-7);  // 1.9 + 0.2 is above 2, where the ulp doubles
  EXPECT_EQ(stored.squares, 0x1p-14);
  const auto staged = on.staged(x, bfloat16);
  EXPECT_EQ(staged.number.moment, 0x1p-16);  // the moment of the value itself
  EXPECT_NE(staged.drift, 0);                // the error is known, not random
  EXPECT_EQ(on.staged(x, Store()).number.rigorous, 0.2);
}

PairCoefficient<1> pair(double value, double rigorous, double by) {
  return {{.value = value,
           .rigorous = rigorous,
           .additive = rigorous / 2,
           .squares = square(rigorous),
           .by = {by}},
          0};
}

// A8, A9.
TEST(Sums, ARowsSymbolKeepsItsSignWithinTheRowAndAddsInQuadratureOverRows) {
  const std::array<Symbol, 1> of_row = {Symbol{.rigorous = 8, .deviation = 3, .shared = 2}};
  SumWithinRow<1> within;
  SumOverRows<1> over;
  for (const double by : {1.0, -1.0, 2.0}) {
    within.add(pair(1, 0.5, by), 2);
    over.add(pair(1, 0.5, by), of_row, 2);
  }
  const Element row = within.with(of_row), column = over.element();
  EXPECT_EQ(row.value, 6);
  EXPECT_EQ(row.terms, 3);
  EXPECT_EQ(row.rigorous, 3 * 0.25 * 2 + 8 * 4);  // 1 - 1 + 2, times 2
  EXPECT_EQ(row.squares, 3 * 0.25 * 4 + 9 * 16);
  EXPECT_EQ(row.shared, 2 * 4);
  EXPECT_EQ(column.rigorous, 3 * 0.5 * 2);
  EXPECT_EQ(column.squares, (3 * 0.25 + 9 * (1 + 1 + 4)) * 4);
  EXPECT_EQ(column.shared, 2 * 4 * 2);
}

// A8, A9.
TEST(Sums, APairThatCountsTwiceErrsTwiceAsMuch) {
  const std::array<Symbol, 1> of_row = {Symbol{}};
  SumOverRows<1> once, twice;
  once.add(pair(1, 0.5, 0), of_row, 2);
  twice.add(pair(1, 0.5, 0), of_row, 2, 2);
  EXPECT_EQ(twice.element().rigorous, 2 * once.element().rigorous);
  EXPECT_EQ(twice.element().squares, 4 * once.element().squares);
  EXPECT_EQ(twice.element().terms, 2);
}

// A10, A11, A12.
TEST(Bound, FourSummandsAgreeWithHandComputation) {
  const Element element = {.value = 4,
                           .magnitude = 8,
                           .rigorous = 1,
                           .squares = 0x1p-8,
                           .shared = 0x1p-5,
                           .drift = -0x1p-5,
                           .terms = 4};
  Output output = {.units = {.u_sum = 0x1p-10}, .lambda = 2};
  output.chain = chain_of(element.terms, output);
  const auto bound = bound_of(element, output);
  EXPECT_EQ(bound.value, 4);
  EXPECT_NEAR(bound.core, 0x1p-5 + 2 * 0x1p-4 + 0x1p-5, 1e-11);
  EXPECT_NEAR(bound.proven, 1 + 8 * 0x1p-10 * 9, 1e-10);
  EXPECT_NEAR(bound.probable, bound.core + 8 * 0x1p-10 * 9, 1e-10);
  output.store = bfloat16;
  EXPECT_NEAR(bound_of(element, output).proven, 1 + 8 * 0x1p-10 * 9 + 0x1p-6, 1e-10);
  output.averages = false;
  EXPECT_EQ(bound_of(element, output).core, bound.rigorous);
  output = {
      .units = output.units, .factor = -0.5, .roundings = 2, .lambda = 2, .chain = output.chain};
  EXPECT_EQ(bound_of(element, output, 3.0).value, -2);
  EXPECT_NEAR(bound_of(element, output, 3.0).proven, 0.5 + 8 * 0x1p-10 * 4.5 + 3 + 4 * 0x1p-24,
              1e-10);
  EXPECT_EQ(bound_of(Element{.rigorous = std::nan("")}, output).proven, HUGE_VAL);
}

// A10.
TEST(Bound, LambdaOfOneSumAgreesWithItsFormula) {
  EXPECT_DOUBLE_EQ(mean_free_factor(1, 1e-9), std::sqrt(2 * std::log(2e9)));
  EXPECT_EQ(mean_free_factor(0, 1e-9), mean_free_factor(1, 1e-9));
}

// Equations A2, A3, A7 and E31 of engine/README.md, for the compression operator: one product that
// the kernel rounds to bf16. The engine knows this rounding error exactly.
TEST(Compress, AStagedProductErrsByHalfAStepAndItsDriftIsThatError) {
  const Units units;
  const ToleranceReading<double, 0> on(units, {});
  const conformance::bilinear::Call nearest = {.stage = bfloat16},
                                    cut = {.stage = Store(8, -126, Direction::truncated)};
  const auto x =
      conformance::bilinear::product(on, nearest, 1.0078125, 1.0078125);  // 129 / 128, squared
  EXPECT_EQ(x.number.value, 16641 / 16384.0);
  EXPECT_EQ(x.number.rigorous, 0x1p-8);
  EXPECT_EQ(x.drift, 130 / 128.0 - 16641 / 16384.0);
  EXPECT_EQ(x.number.moment, 0);
  EXPECT_EQ(conformance::bilinear::product(on, cut, 1.0078125, 1.0078125).number.moment, 0x1p-14);
}

}  // namespace
}  // namespace assay::engine
