#include "judge/tolerance.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <span>

#include "attention/bound/pairs.hpp"
#include "attention/bound/sums.hpp"

/// Equations that all operators share, worked out by hand.
namespace assay::conformance {
namespace {

using spec::DType;

/// E3. Sixteen terms of magnitude 3 in all, in fp32 and with an fp16 accumulator.
TEST(Equations, ADotProductErrsByItsLengthOrByItsRoot) {
  EXPECT_EQ(flash::dot_error(3, 16, 0x1p-24), 60 * 0x1p-24);
  EXPECT_EQ(flash::free_dot_error(3, 16, 0x1p-24), 18 * 0x1p-24);
  EXPECT_EQ(flash::dot_error(3, 16, 0x1p-11), 60 * 0x1p-11);
}

/// E6. Small arguments by the series, which is never too small, others by expm1.
TEST(Equations, RelativeErrorsGrowLikeExpm1) {
  EXPECT_EQ(flash::growth(0x1p-20), 0x1p-20 + 0x1p-40);
  EXPECT_GE(flash::growth(0x1p-13), std::expm1(0x1p-13));
  EXPECT_DOUBLE_EQ(flash::growth(1), std::expm1(1.0));
  const flash::ExponentError x{
      .score = 0, .coherent = 0.25, .total = 0.5, .v2 = 0, .v2_moment = 0, .h_s = 0};
  for (const double eps : {0.0, 0x1p-10}) {
    const Arithmetic n({.exp_error = eps}, DType::bf16);
    EXPECT_DOUBLE_EQ(flash::relative_error(n, x, 0.125), std::expm1(0.5 + eps + 0x1p-22 + 0.125));
    EXPECT_DOUBLE_EQ(flash::shared_error(n, x, 0.5), 0.25 + eps + 0x1p-22 + 0.25);
  }
}

/// E16. Four rows along one axis have one channel, along two axes two.
TEST(Equations, ChannelsCountAsFarAsTheyAreAlike) {
  const double along[] = {1, 0}, across[] = {0, 1};
  const std::array<const double*, 4> alike = {along, along, along, along},
                                     mixed = {along, across, along, across};
  EXPECT_EQ(flash::effective_channels(alike, 2), 1);
  EXPECT_EQ(flash::effective_channels(mixed, 2), 2);
}

/// E18. One sum, and a million of them.
TEST(Equations, LambdaGrowsWithTheRootOfALogarithm) {
  EXPECT_DOUBLE_EQ(azuma_factor(1), std::sqrt(2 * std::log(2e9)));
  EXPECT_NEAR(azuma_factor(1'000'000), 8.3943, 1e-4);
  EXPECT_EQ(azuma_factor(0), azuma_factor(1));
}

/// E19, E20. 1 + 5 * 3 + 2 = 18: the rigorous 17 is less, 19 is not; without averages it decides.
TEST(Equations, TheCoreIsTheSmallerError) {
  EXPECT_EQ(probable_error(-1.0, 5, 9.0, 2.0), 18);
  EXPECT_EQ(core_error(17.0, 18.0, true), 17);
  EXPECT_EQ(core_error(19.0, 18.0, true), 18);
  EXPECT_EQ(core_error(19.0, 18.0, false), 19);
}

/// E21. A hundred terms under lambda 7, and four, whose root saves nothing.
TEST(Equations, AChainIsAsLongAsItsTermsOrTheirRoot) {
  EXPECT_EQ(worst_chain(100), 104);
  EXPECT_EQ(probable_chain(104, 100, 7), 74);
  EXPECT_EQ(probable_chain(8, 4, 7), 8);
}

/// E22. Two heads whose parts have the magnitude 5, a gradient of 3 with a core of 1.
TEST(Equations, PartsOf16BitsAreRoundedAHeadAndInTheirSum) {
  const flash::ElementSums sums{.ref = -3,
                                .magnitude = 5,
                                .rig = 0,
                                .azuma = 0,
                                .linear = 0,
                                .squares = 0,
                                .core = 0,
                                .drift = 0,
                                .terms = 1,
                                .partials = 5,
                                .heads = 2};
  const auto error = [&](DType io, DType partials) {
    return flash::partial_error(Arithmetic({.partials = partials}, io), sums, 1.0);
  };
  EXPECT_EQ(error(DType::fp32, DType::fp32), 0);
  EXPECT_EQ(error(DType::bf16, DType::bf16), 13 * 0x1p-8 + 4 * 0x1p-134);
  EXPECT_EQ(error(DType::fp16, DType::fp16), 13 * 0x1p-11 + 4 * 0x1p-25);
}

/// E24. The cast sees reference, core, accumulation and the rest: 1 + 1/2 + 1/4 + 1/4 = 2, whose
/// unit is twice that of 1.
TEST(Equations, TauIsAllErrorsAndTheirCast) {
  const auto tau = [](DType io) { return tolerance_of(Arithmetic({}, io), 1.0, 0.5, 0.25, 0.25); };
  EXPECT_EQ(tau(DType::fp32), 1);
  EXPECT_EQ(tau(DType::bf16), 1 + 2 * 0x1p-8);
  EXPECT_EQ(tau(DType::fp16), 1 + 2 * 0x1p-11);
}

/// E25.
TEST(Equations, AReferenceInDoubleIs2To27TimesAsAccurate) {
  EXPECT_EQ(reference_radius(3.0, 1.0), 0x1p-25);
  EXPECT_EQ(reference_radius(0.0, 0.0), 0);
}

/// E26. Casts, staging and accumulation, one at a time: thirds of the squares of their largest.
TEST(Equations, TheVarianceIsThatOfEveryRounding) {
  flash::ElementSums sums{.ref = 1,
                          .magnitude = 0,
                          .rig = 0,
                          .azuma = 0,
                          .linear = 0,
                          .squares = 0,
                          .core = 0,
                          .drift = 0,
                          .terms = 0};
  const auto variance = [&](DType io) {
    return flash::element_variance(Arithmetic({}, io), sums, 0.0);
  };
  const double of_bias = 4 * 0x1p-48 / 3;
  EXPECT_DOUBLE_EQ(variance(DType::fp32), of_bias);
  EXPECT_DOUBLE_EQ(variance(DType::bf16), 0x1p-16 / 3 + of_bias);
  sums.core = 3, sums.linear = 9, sums.terms = 3;
  EXPECT_DOUBLE_EQ(variance(DType::fp32), 1 + 1 + 0x1p-48 + of_bias);
}

/// E28. 65520 is the first number that fp16 rounds to infinity; bf16 reaches as far as fp32.
TEST(Equations, OnlyFp16OverflowsWhereFp32DoesNot) {
  EXPECT_FALSE(may_overflow(DType::fp16, 65519));
  EXPECT_TRUE(may_overflow(DType::fp16, 65520));
  EXPECT_FALSE(may_overflow(DType::bf16, 1e30));
}

}  // namespace
}  // namespace assay::conformance
