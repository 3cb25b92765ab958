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

/// Compares R (root mean square) and the mean of the errors in a row (equation E29) with the same
/// numbers, computed by the functions for one element.
TEST(RowLoops, MomentsAreThoseOfTheElements) {
  std::int64_t printing = 0, biased = 0;
  for (const DType io : {DType::bf16, DType::fp16, DType::fp32}) {
    const Arithmetic arithmetic({}, io);
    each_drawn([&](const Drawn& drawn) {
      const Expectation& e = drawn.e;
      const std::size_t size = e.value.size();
      std::vector<double> error(size), of_cast(size);
      std::vector<std::int64_t> is_informative(size), is_biased(size);
      fill_moments(drawn.numbers(), arithmetic,
                   {error.data(), of_cast.data(), is_informative.data(), is_biased.data()});
      each_set([&](auto compiled) {
        std::vector<double> again(size), of_cast_again(size);
        std::vector<std::int64_t> informative_again(size), biased_again(size);
        fill_moments(
            compiled, drawn.numbers(), arithmetic,
            {again.data(), of_cast_again.data(), informative_again.data(), biased_again.data()});
        EXPECT_EQ(bits_of(again), bits_of(error));
        EXPECT_EQ(bits_of(of_cast_again), bits_of(of_cast));
        EXPECT_EQ(informative_again, is_informative);
        EXPECT_EQ(biased_again, is_biased);
      });
      for (std::size_t k = 0; k < size; ++k) {
        const bool expected = std::abs(e.value[k]) > e.tau[k] && e.sigma[k] > 0 &&
                              std::isfinite(drawn.actual[k]) &&
                              !arithmetic.cast_is_coarse(e.value[k]);
        ASSERT_EQ(is_informative[k] != 0, expected);
        if (!expected) continue;
        ++printing, biased += is_biased[k] != 0 ? 1 : 0;
        const double healthy = e.value[k] + e.drift[k];
        const auto same = [](double x, double y) {
          return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y) ||
                 (std::isnan(x) && std::isnan(y));
        };
        EXPECT_TRUE(same(error[k], (drawn.actual[k] - e.value[k] - e.drift[k]) / e.sigma[k]));
        EXPECT_TRUE(same(of_cast[k], arithmetic.cast_error(healthy) / e.sigma[k]));
        EXPECT_EQ(is_biased[k] != 0, arithmetic.cast_is_biased(healthy));
      }
    });
  }
  EXPECT_GT(printing, 10000);
  EXPECT_GT(biased, 100);
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
