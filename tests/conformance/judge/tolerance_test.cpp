#include "judge/tolerance.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <span>

#include "attention/bound/sums.hpp"
#include "attention/formula/pair.hpp"

/// Checks the error equations that all operators share, computed by hand.
namespace assay::conformance {
namespace {

using spec::DType;

/// Equation E3: the error of a sum of sixteen terms with a total magnitude of 3, with an fp32 and
/// an fp16 accumulator.
TEST(Equations, ADotProductErrsByItsLengthOrByItsRoot) {
  const engine::Units single, half = {.u_sum = 0x1p-11};
  EXPECT_EQ(3 * engine::worst_dot(single, 16), 60 * 0x1p-24);
  EXPECT_EQ(3 * engine::mean_free_dot(single, 16), 18 * 0x1p-24);
  EXPECT_EQ(3 * engine::worst_dot(half, 16), 60 * 0x1p-11);
}

/// Equation E6 (the relative error of e^x if x has an error): `growth` computes expm1 of the error.
/// For small arguments it uses a series that is never smaller than expm1.
TEST(Equations, RelativeErrorsGrowLikeExpm1) {
  EXPECT_EQ(engine::growth(0x1p-20), 0x1p-20 + 0x1p-40);
  EXPECT_GE(engine::growth(0x1p-13), std::expm1(0x1p-13));
  EXPECT_NEAR(engine::growth(1.0), std::expm1(1.0), 1e-10);
  for (const double eps : {0.0, 0x1p-10}) {
    const attention::Call call = {.exp_error = eps};
    const engine::ToleranceReading<double, 2> on(call.units, {});
    const engine::Tolerance<double, 2> x = {.rigorous = 0.5, .additive = 0.5, .shared = 0.25};
    const auto p = attention::exponential(on, call, x, 1.0);
    EXPECT_EQ(p.value, 1);
    EXPECT_NEAR(p.rigorous, std::expm1(0.5 + eps + 0x1p-22), 1e-9);
    EXPECT_DOUBLE_EQ(p.shared, 0.25 + eps + 0x1p-22 + p.rigorous * p.rigorous);
  }
}

/// Equation E16 (how much the elements of a row count if their errors are correlated): the
/// effective number of independent channels. If four rows point along one axis, there is one
/// effective channel; if they point along two axes, there are two.
TEST(Equations, ChannelsCountAsFarAsTheyAreAlike) {
  // The first channel is left out.
  const std::array<float, 12> alike = {9, 1, 0, 9, 1, 0, 9, 1, 0, 9, 1, 0},
                              mixed = {9, 1, 0, 9, 0, 1, 9, 1, 0, 9, 0, 1};
  EXPECT_EQ(attention::effective_channels({alike.data(), 4, 3}, 1, 2), 1);
  EXPECT_EQ(attention::effective_channels({mixed.data(), 4, 3}, 1, 2), 2);
}

/// Equation E18: lambda, the factor of the probable error, for one sum and for a million sums.
TEST(Equations, LambdaGrowsWithTheRootOfALogarithm) {
  EXPECT_DOUBLE_EQ(azuma_factor(1), std::sqrt(2 * std::log(2e9)));
  EXPECT_NEAR(azuma_factor(1'000'000), 8.3943, 1e-4);
  EXPECT_EQ(azuma_factor(0), azuma_factor(1));
}

/// Equations E19, E20: the core error is the smaller one of the probable error and the rigorous
/// bound. The probable error is 1 + 5 * 3 + 2 = 18, so a rigorous bound of 17 is used, but not a
/// bound of 19. If errors do not average out, the rigorous bound is always used.
TEST(Equations, TheCoreIsTheSmallerError) {
  EXPECT_EQ(engine::probable_error(-1.0, 5, 9.0, 2.0), 18);
  EXPECT_EQ(engine::core_error(17.0, 18.0, true), 17);
  EXPECT_EQ(engine::core_error(19.0, 18.0, true), 18);
  EXPECT_EQ(engine::core_error(19.0, 18.0, false), 19);
}

/// Equation E21: the rounding error of a sum, in the worst case and with high probability (quantile
/// lambda = 7), for a hundred terms and for four terms. For four terms the second one is not
/// smaller than the worst case.
TEST(Equations, AChainIsAsLongAsItsTermsOrTheirRoot) {
  EXPECT_EQ(engine::worst_chain(100), 104);
  EXPECT_EQ(engine::probable_chain(104, 100, 7), 74);
  EXPECT_EQ(engine::probable_chain(8, 4, 7), 8);
}

/// Equation E22: the partial sums of two heads are rounded to 16 bits, with the relative error u.
/// The sum of their magnitudes is 5. The gradient is 3, and its core error (the smaller of the
/// rigorous and the probable error) is 1. So the error of the partial sums is (5 + 2 (3 + 1)) u =
/// 13 u.
TEST(Equations, PartsOf16BitsAreRoundedAHeadAndInTheirSum) {
  const auto error = [](const engine::Parts& parts) {
    return engine::partial_error(parts, 5.0, 3.0, 1.0);
  };
  EXPECT_EQ(error({.count = 2}), 0);
  EXPECT_EQ(error({.u = 0x1p-8, .lost = 0x1p-134, .count = 2}), 13 * 0x1p-8 + 4 * 0x1p-134);
  EXPECT_EQ(error({.u = 0x1p-11, .lost = 0x1p-25, .count = 2}), 13 * 0x1p-11 + 4 * 0x1p-25);
}

/// Equation E24 (the tolerance tau). The final cast rounds a number of at most reference + core
/// error + accumulation error + other errors = 1 + 1/2 + 1/4 + 1/4 = 2. At 2 the unit of the output
/// type is twice the unit at 1.
TEST(Equations, TauIsAllErrorsAndTheirCast) {
  const auto tau = [](DType io) {
    return engine::tolerance_of(store_of(io, spec::Rounding::rne), 1.0, 0.5, 0.25, 0.25);
  };
  EXPECT_EQ(tau(DType::fp32), 1);
  EXPECT_EQ(tau(DType::bf16), 1 + 2 * 0x1p-8);
  EXPECT_EQ(tau(DType::fp16), 1 + 2 * 0x1p-11);
}

/// E25.
TEST(Equations, AReferenceInDoubleIs2To27TimesAsAccurate) {
  EXPECT_EQ(engine::reference_radius(3.0, 1.0), 0x1p-25);
  EXPECT_EQ(engine::reference_radius(0.0, 0.0), 0);
}

/// Equation E26: the variances of casts, of intermediate roundings and of accumulation, one at a
/// time. Each is a third of the square of the largest error.
TEST(Equations, TheVarianceIsThatOfEveryRounding) {
  engine::Element x = {.value = 1};
  const auto variance = [&](DType io) {
    engine::Output output = output_of(Arithmetic({}, io), 1);
    output.roundings = 2;
    output.chain = engine::chain_of(x.terms, output);
    return engine::element_variance(x, output, 0.0, 0.0, 0.0, 0.0);
  };
  const double of_bias = 4 * 0x1p-48 / 3;
  EXPECT_DOUBLE_EQ(variance(DType::fp32), of_bias);
  EXPECT_DOUBLE_EQ(variance(DType::bf16), 0x1p-16 / 3 + of_bias);
  x.moment = 3, x.shared = 9, x.terms = 3;
  EXPECT_DOUBLE_EQ(variance(DType::fp32), 1 + 1 + 0x1p-48 + of_bias);
}

/// Equation E28 (rows in which an intermediate result may overflow). 65520 is the smallest number
/// that fp16 rounds to infinity. bf16 has the range of fp32, so it overflows only where fp32 does.
TEST(Equations, OnlyFp16OverflowsWhereFp32DoesNot) {
  EXPECT_FALSE(may_overflow(DType::fp16, 65519));
  EXPECT_TRUE(may_overflow(DType::fp16, 65520));
  EXPECT_FALSE(may_overflow(DType::bf16, 1e30));
}

}  // namespace
}  // namespace assay::conformance
