#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "judge/certainty.hpp"
#include "judge/elements/distances.hpp"
#include "judge/elements/lane_loops.hpp"

namespace assay::conformance {
namespace {

using spec::DType;
using spec::Rounding;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Makes a row of the given length that contains a few unusual elements.
struct Drawn {
  explicit Drawn(std::int64_t width, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> unit(-1, 1);
    std::uniform_int_distribution<int> exponent(-30, 6), kind(0, 400);
    e.name = "dk";
    e.extents = {.batch = 1, .heads = 1, .seq = 1, .dim = width};
    e.rows = {0};
    e.resize(1);
    for (std::size_t k = 0; k < e.value.size(); ++k) {
      e.value[k] = std::ldexp(unit(random), exponent(random));
      e.tau[k] = std::abs(e.value[k]) * 0x1p-8 + 0x1p-40, e.tau_det[k] = 2 * e.tau[k];
      e.sigma[k] = e.tau[k] / 5, e.drift[k] = unit(random) * e.sigma[k];
      e.radius[k] = 0x1p-30 * e.tau[k];
      actual.push_back(e.value[k] + unit(random) * e.tau[k]);
      disturb(k, kind(random));
    }
  }
  void disturb(std::size_t k, int kind) {
    double* const numbers[] = {&e.value[k], &e.radius[k], &e.tau[k], &e.tau_det[k],
                               &e.sigma[k], &e.floor[k],  &actual[k]};
    constexpr double others[] = {0, 0x1p40, infinity, 0x1p-140, 0x1p-25};
    if (kind < 35) *numbers[kind % 7] = others[kind / 7];
    if (kind == 35) actual[k] = std::nan("");
    if (kind == 36) actual[k] = e.value[k];
    if (kind == 37) e.value[k] = -0x1p40;
  }
  RowNumbers numbers() const { return {e, 0, e.value.size(), actual.data()}; }

  Expectation e;
  std::vector<double> actual;
};

template <class Look>
void each_drawn(const Look& look) {
  std::uint64_t seed = 0;
  for (const std::int64_t width : {1, 3, 8, 17, 64, 130})
    for (int time = 0; time < 300; ++time) look(Drawn(width, ++seed));
}

/// Returns the bits of the numbers; all NaN count as equal.
std::vector<std::uint64_t> bits_of(const std::vector<double>& numbers) {
  std::vector<std::uint64_t> bits;
  for (const double x : numbers)
    bits.push_back(
        std::bit_cast<std::uint64_t>(std::isnan(x) ? std::numeric_limits<double>::quiet_NaN() : x));
  return bits;
}

constexpr double share = 0x1p-20;
/// Calls look(tag) once for each instruction set of this machine.
template <class Look>
void each_set(const Look& look) {
  for (const engine::Instructions set : engine::available_instructions())
    engine::read_with(set, look);
}

/// E27.
TEST(RowLoops, RowIsWithinIfAllElementsAre) {
  const Arithmetic arithmetic({}, DType::bf16);
  std::int64_t within = 0, others = 0;
  each_drawn([&](const Drawn& drawn) {
    const Expectation& e = drawn.e;
    std::vector<double> ratios(e.value.size());
    const bool all = all_within(drawn.numbers(), share, ratios.data());
    each_set([&](auto compiled) {
      std::vector<double> again(e.value.size());
      EXPECT_EQ(all_within(compiled, drawn.numbers(), share, again.data()), all);
      if (all) {
        EXPECT_EQ(again, ratios);
      }
    });
    ++(all ? within : others);
    bool expected = true;
    for (std::size_t k = 0; k < ratios.size(); ++k) {
      const double x = drawn.actual[k];
      expected &= std::isfinite(e.radius[k]) && std::isfinite(x) &&
                  std::abs(e.value[k]) + e.tau_det[k] < 0x1p15 &&
                  grade(e, k, x, arithmetic) == Grade::within &&
                  (e.tau[k] <= e.floor[k] || e.radius[k] <= share * e.tau[k]);
      if (all) {
        EXPECT_EQ(ratios[k], relative_to_tau(e, k, x, arithmetic));
      }
    }
    EXPECT_EQ(all, expected);
  });
  EXPECT_GT(within, 300);
  EXPECT_GT(others, 300);
}

/// Equation E2: what the final cast adds to a number, computed for one number.
struct Cast {
  Cast(double value, const Arithmetic& arithmetic) {
    is_coarse = std::abs(value) < coarsest_of(arithmetic.io);
    const double unit = unit_roundoff(arithmetic.io), least = 2 * underflow_of(arithmetic.io);
    if (unit == 0) return;  // fp32
    const bool away = arithmetic.numerics.round_out == Rounding::rna;
    const double power = value == 0 ? 0 : std::ldexp(1.0, std::ilogb(value));
    const double step = std::max(2 * unit * power, least), steps = std::abs(value) / step;
    const double whole = away ? std::floor(steps + 0.5) : std::nearbyint(steps);
    error = std::copysign(whole * step, value) - value;
    is_biased = std::abs(value) < arithmetic.eta_out / arithmetic.u_out ||
                (away && std::abs(steps - std::floor(steps) - 0.5) < 0x1p-7);
  }
  double error = 0;
  bool is_biased = false, is_coarse = false;
};

/// The numbers that fill_moments computes for each element.
struct ElementMoments {
  explicit ElementMoments(std::size_t size)
      : error(size), of_cast(size), is_informative(size), is_biased(size) {}
  MomentRow row() {
    return {error.data(), of_cast.data(), is_informative.data(), is_biased.data()};
  }
  std::vector<double> error, of_cast;
  std::vector<std::int64_t> is_informative, is_biased;
};

/// Compares R (root mean square) and the mean of the errors in a row (equation E29) with the same
/// numbers, computed for one element at a time.
TEST(RowLoops, MomentsAreThoseOfTheElements) {
  const auto same = [](double x, double y) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y) ||
           (std::isnan(x) && std::isnan(y));
  };
  for (const Rounding rounding : {Rounding::rne, Rounding::rna})
    for (const DType io : {DType::bf16, DType::fp16, DType::fp32}) {
      std::int64_t informative = 0, biased = 0;
      const Arithmetic arithmetic({.round_out = rounding}, io);
      each_drawn([&](const Drawn& drawn) {
        const Expectation& e = drawn.e;
        const std::size_t size = e.value.size();
        ElementMoments of(size);
        fill_moments(drawn.numbers(), arithmetic, of.row());
        each_set([&](auto compiled) {
          ElementMoments again(size);
          fill_moments(compiled, drawn.numbers(), arithmetic, again.row());
          EXPECT_EQ(bits_of(again.error), bits_of(of.error));
          EXPECT_EQ(bits_of(again.of_cast), bits_of(of.of_cast));
          EXPECT_EQ(again.is_informative, of.is_informative);
          EXPECT_EQ(again.is_biased, of.is_biased);
        });
        for (std::size_t k = 0; k < size; ++k) {
          const bool expected = std::abs(e.value[k]) > e.tau[k] && e.sigma[k] > 0 &&
                                std::isfinite(drawn.actual[k]) &&
                                !Cast(e.value[k], arithmetic).is_coarse;
          ASSERT_EQ(of.is_informative[k] != 0, expected);
          if (!expected) continue;
          ++informative, biased += of.is_biased[k] != 0 ? 1 : 0;
          const double healthy = e.value[k] + e.drift[k];
          const Cast cast(healthy, arithmetic);
          EXPECT_TRUE(same(of.error[k], (drawn.actual[k] - e.value[k] - e.drift[k]) / e.sigma[k]));
          EXPECT_TRUE(same(of.of_cast[k], cast.error / e.sigma[k])) << healthy;
          EXPECT_EQ(of.is_biased[k] != 0, cast.is_biased) << healthy;
        }
      });
      EXPECT_GT(informative, 10000);
      if (io == DType::fp16) {
        EXPECT_GT(biased, 100);
      }
    }
}

/// Returns the moments of one exact number without drift, whose expected deviation is 1.
ElementMoments moments_of(double value, DType io, Rounding rounding) {
  Drawn drawn(1, 1);
  drawn.e.value = {value}, drawn.e.drift = {0}, drawn.e.sigma = {1}, drawn.e.tau = {0};
  drawn.actual = {value};
  ElementMoments moments(1);
  fill_moments(drawn.numbers(), Arithmetic({.round_out = rounding}, io), moments.row());
  return moments;
}

/// Equation E2, computed by hand.
TEST(RowLoops, ErrorOfTheFinalCastIsKnown) {
  const auto error = [](double value, DType io, Rounding rounding) {
    return moments_of(value, io, rounding).of_cast[0];
  };
  constexpr double step = 0x1p-7;  // unit of bf16 in [1, 2)
  for (const double sign : {1.0, -1.0}) {
    EXPECT_EQ(error(sign * (1 + 0.25 * step), DType::bf16, Rounding::rne), sign * -0.25 * step);
    EXPECT_EQ(error(sign * (1 + 0.5 * step), DType::bf16, Rounding::rne), sign * -0.5 * step);
    EXPECT_EQ(error(sign * (1 + 0.5 * step), DType::bf16, Rounding::rna), sign * 0.5 * step);
    EXPECT_EQ(error(sign * (1 + 0.49 * step), DType::bf16, Rounding::rna),
              sign * 1 - sign * (1 + 0.49 * step));
    EXPECT_EQ(error(sign * 0x1p-26, DType::fp16, Rounding::rne), sign * -0x1p-26);
    EXPECT_EQ(error(sign * 0x1p-25, DType::fp16, Rounding::rna), sign * 0x1p-25);
    EXPECT_EQ(error(sign * (1 + 0x1p-40), DType::fp32, Rounding::rne), 0);
  }
}

/// Computed by hand.
TEST(RowLoops, BiasedAndCoarseCastsAreRecognized) {
  const auto is_biased = [](double value, DType io, Rounding rounding) {
    return moments_of(value, io, rounding).is_biased[0] != 0;
  };
  constexpr double tie = 1 + 0x1p-11, step = 0x1p-10;
  EXPECT_TRUE(is_biased(tie, DType::fp16, Rounding::rna));
  EXPECT_TRUE(is_biased(-tie - 0x1p-8 * step, DType::fp16, Rounding::rna));
  EXPECT_FALSE(is_biased(tie + 0x1p-6 * step, DType::fp16, Rounding::rna));
  EXPECT_FALSE(is_biased(tie, DType::fp16, Rounding::rne));
  EXPECT_TRUE(is_biased(0x1.1p-15, DType::fp16, Rounding::rne));
  EXPECT_FALSE(is_biased(0x1.1p-14, DType::fp16, Rounding::rne));
  EXPECT_FALSE(is_biased(tie, DType::fp32, Rounding::rna));
  const auto is_coarse = [](double value, DType io) {
    return moments_of(value, io, Rounding::rne).is_informative[0] == 0;
  };
  EXPECT_TRUE(is_coarse(15.5 * 0x1p-24, DType::fp16));
  EXPECT_FALSE(is_coarse(16 * 0x1p-24, DType::fp16));
  EXPECT_TRUE(is_coarse(0x1p-127, DType::fp32));
  EXPECT_FALSE(is_coarse(0x1p-126, DType::fp32));
}

/// E30.
TEST(RowLoops, RowIsCertainIfAllElementsAre) {
  std::int64_t certain = 0, others = 0;
  for (const DType io : {DType::bf16, DType::fp16, DType::fp32}) {
    const CastSteps steps(io, Rounding::rne);
    ASSERT_TRUE(steps.nearest());
    each_drawn([&](const Drawn& drawn) {
      const Expectation& e = drawn.e;
      bool expected = true;
      double most = 0;
      for (std::size_t k = 0; k < e.value.size(); ++k) {
        const bool is_narrow = std::isfinite(e.radius[k]) &&
                               (e.radius[k] <= share * e.tau[k] || e.tau[k] <= e.floor[k]);
        expected &=
            is_narrow && std::isfinite(e.value[k]) && steps.decides(e.value[k], e.radius[k]);
        if (e.tau[k] > e.floor[k] && std::isfinite(e.tau[k]))
          most = std::max(most, e.radius[k] / e.tau[k]);
      }
      each_set([&](auto compiled) {
        EXPECT_EQ(all_certain(compiled, drawn.numbers(), share, *steps.nearest()), expected);
        EXPECT_EQ(largest_radius(compiled, drawn.numbers()), most);
      });
      ++(expected ? certain : others);
    });
  }
  EXPECT_GT(certain, 300);
  EXPECT_GT(others, 300);
  EXPECT_FALSE(CastSteps(DType::bf16, Rounding::rtz).nearest());
  EXPECT_FALSE(CastSteps(DType::bf16, Rounding::stochastic).nearest());
}

}  // namespace
}  // namespace assay::conformance
