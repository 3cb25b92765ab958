#include "attention/formula/rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "assay/conformance/inputs/random.hpp"
#include "attention/bound/forward.hpp"
#include "model_kernel.hpp"

namespace assay::conformance::attention {
namespace {

using engine::Instructions;
using Numbers = std::vector<double>;

Numbers random_numbers(std::size_t count, std::uint64_t seed) {
  const Random random(seed, 1);
  Numbers numbers;
  for (std::size_t k = 0; k < count; ++k) numbers.push_back(random.normal(k));
  return numbers;
}

TEST(KeyLoops, ProductsAreThoseOfOneColumnAtATime) {
  constexpr std::size_t dim = 37, keys = 48, pitch = 64;
  const Numbers wide = random_numbers(dim, 1), matrix = random_numbers(dim * pitch, 2);
  const std::vector<float> numbers(wide.begin(), wide.end());
  FloatRow row(dim);
  std::ranges::copy(numbers, row.data());
  for (const Instructions instructions : engine::available_instructions()) {
    Numbers sum(keys), magnitudes(keys), squares(keys);
    engine::read_with(instructions, [&](auto compiled) {
      multiply_row(compiled, row.data(), {matrix.data() + 16, dim, pitch}, keys,
                   {sum.data(), magnitudes.data(), squares.data()});
    });
    for (std::size_t c = 0; c < keys; ++c) {
      double one = 0, one_magnitude = 0, one_square = 0;
      for (std::size_t d = 0; d < dim; ++d) {
        const double product = row[d] * matrix[d * pitch + 16 + c];
        one += product, one_magnitude += std::abs(product), one_square += product * product;
      }
      EXPECT_EQ(sum[c], one) << c;
      EXPECT_EQ(magnitudes[c], one_magnitude) << c;
      EXPECT_EQ(squares[c], one_square) << c;
    }
  }
}

/// Scores of a row with their errors, computed by the loops for `instructions`.
struct LoopScores {
  LoopScores(Instructions instructions, const Call& call, const Row<double>& row,
             const RowProducts& of)
      : value(of.score.size()), rigorous(value), squares(value), shared(value) {
    engine::read_with(instructions, [&](auto compiled) {
      read_scores(compiled, call, row, value.size(),
                  {of.score.data(), of.score_abs.data(), of.score_sq.data(), of.bias.data()},
                  arrays());
    });
  }
  ScoreArrays arrays() { return {value.data(), rigorous.data(), squares.data(), shared.data()}; }
  Numbers value, rigorous, squares, shared;
};

RowProducts random_products(std::size_t keys) {
  RowProducts products;
  products.score = random_numbers(keys, 3);
  for (const double x : random_numbers(keys, 4)) products.score_abs.push_back(4 + std::abs(x));
  products.score_sq = products.score_abs;
  products.bias = random_numbers(keys, 5);
  for (auto* none : {&products.dprob, &products.dprob_abs, &products.dprob_sq})
    none->assign(keys, 0);
  for (std::size_t c = 0; c < keys; ++c)
    products.times.push_back(static_cast<std::uint8_t>(c % 5 == 2 ? 0 : 1 + c % 3));
  products.attends = true;
  return products;
}

TEST(KeyLoops, ScoresAndWeightsHaveTheBitsOfSinglePairs) {
  const RowProducts products = random_products(64);
  const Row<double> row = {2.5, 3, 0};
  for (const bool lse_form : {false, true})
    for (const bool biased : {false, true})
      for (const Instructions instructions : engine::available_instructions()) {
        Call call{.scale = 0.3, .dim = 8, .fused = true, .lse_form = lse_form, .biased = biased};
        call.score = engine::Store(8, -126, engine::Direction::nearest_even);
        LoopScores scores(instructions, call, row, products);
        Numbers weights(scores.value.size()), growth(weights);
        engine::read_with(instructions, [&](auto compiled) {
          read_weights(compiled, weights.size(), scores.arrays(), row.max, {0x1p-22, 0x1p-20},
                       weights.data(), growth.data());
        });
        const PairReading on(call.units, {});
        for (std::size_t c = 0; c < weights.size(); ++c) {
          const PairNumber one = stored_score_of(on, call, row, products, c, nullptr);
          EXPECT_EQ(scores.value[c], one.value) << c;
          EXPECT_EQ(scores.rigorous[c], one.rigorous) << c;
          EXPECT_EQ(scores.squares[c], one.squares) << c;
          EXPECT_EQ(scores.shared[c], one.shared) << c;
          EXPECT_EQ(weights[c], exact_probability({row.max, 1, 0}, one.value)) << c;
          EXPECT_EQ(growth[c], engine::growth(one.rigorous + 0x1p-22 + 0x1p-20)) << c;
        }
      }
}

TEST(KeyLoops, LimitsAreThoseOfTheKeysThatOccur) {
  const RowProducts products = random_products(32);
  const Numbers times(products.times.begin(), products.times.end());
  constexpr double lambda = 3;
  for (const Instructions instructions : engine::available_instructions()) {
    LoopScores scores(instructions, Call{.scale = 1, .dim = 8}, {}, products);
    // The largest and the smallest score belong to keys that do not occur.
    scores.value[2] = 100, scores.value[7] = -100;
    const auto expect_limits = [&] {
      ScoreLimits limits, expected;
      engine::read_with(instructions, [&](auto compiled) {
        limit_scores(compiled, times.size(), times.data(), scores.arrays(), lambda, limits);
      });
      for (std::size_t c = 0; c < times.size(); ++c)
        if (times[c] != 0)
          expected.add(scores.value[c], scores.rigorous[c],
                       std::min(scores.rigorous[c],
                                lambda * std::sqrt(scores.squares[c]) + scores.shared[c]));
      EXPECT_EQ(limits.low, expected.low);
      EXPECT_EQ(limits.exact, expected.exact);
      EXPECT_EQ(limits.high, expected.high);
      EXPECT_EQ(limits.least, expected.least);
      EXPECT_EQ(limits.likely_low, expected.likely_low);
      EXPECT_EQ(limits.likely_high, expected.likely_high);
      EXPECT_LT(limits.exact, 100);
      EXPECT_GT(limits.least, -100);
    };
    expect_limits();
    // Every key that occurs has once the largest and once the smallest score.
    for (std::size_t c = 0; c < times.size(); ++c)
      for (const double extreme : {50.0, -50.0}) {
        const double kept = std::exchange(scores.value[c], times[c] != 0 ? extreme : 0);
        expect_limits();
        scores.value[c] = kept;
      }
  }
}

TEST(KeyLoops, LimitsOfZeroHaveNoSign) {
  const Numbers zeros(16), times(16, 1.0);
  const auto expect_unsigned = [&](Numbers value, Numbers error) {
    for (const Instructions instructions : engine::available_instructions()) {
      ScoreLimits limits;
      engine::read_with(instructions, [&](auto compiled) {
        limit_scores(compiled, 16, times.data(),
                     {value.data(), error.data(), error.data(), error.data()}, 3, limits);
      });
      for (const double limit : {limits.low, limits.exact, limits.high, limits.least,
                                 limits.likely_low, limits.likely_high})
        EXPECT_TRUE(limit == 0 && !std::signbit(limit));
    }
  };
  // -0 - 0 and -0 + -0 are -0.
  for (const double error : {0.0, -0.0}) {
    const Numbers errors(16, error);
    expect_unsigned(Numbers(16, -0.0), errors);
    for (std::size_t c = 0; c < 16; ++c) {
      Numbers value = zeros;
      value[c] = -0.0;
      expect_unsigned(value, errors);
    }
  }
}

/// Returns ForwardRow::likely_changes of a row with these scores.
double likely_changes(const Numbers& scores) {
  const Op::Problem p = {.dtype = spec::DType::fp32, .seq_q = 1, .seq_kv = 1};
  const Op::Inputs inputs = testing::normal_inputs(p, 1);
  const Dense dense(p, inputs);
  const Arithmetic arithmetic({}, spec::DType::fp32);
  RowProducts products;
  products.score = scores;
  products.score.resize(padded_keys(scores.size()));
  products.score_abs = products.score_sq = products.bias = Numbers(products.score.size());
  products.times.assign(scores.size(), 1);
  products.attends = true;
  return ForwardScores(dense, arithmetic).row(products, 0, 6).likely_changes;
}

/// Pencil: 200 keys. A loop over ascending scores finds a new maximum at every key, in one
/// direction.
TEST(ForwardRow, MaximumGrowsAsOftenAsInTheWorseDirection) {
  Numbers ascending, peak;
  for (int k = 0; k < 200; ++k) ascending.push_back(k), peak.push_back(-std::abs(k - 120));
  const Numbers descending(ascending.rbegin(), ascending.rend());
  EXPECT_EQ(likely_changes(ascending), 199);
  EXPECT_EQ(likely_changes(descending), 199);
  const double others = 4 * std::log(200.0) + 16;
  EXPECT_EQ(likely_changes(peak), 121 + others) << "keys 0 to 120";
  EXPECT_EQ(likely_changes(Numbers(200, 1.0)), 1 + others);
}

}  // namespace
}  // namespace assay::conformance::attention
