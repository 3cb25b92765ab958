#include "bilinear/rows.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "assay/conformance/inputs/random.hpp"

namespace assay::conformance::bilinear {
namespace {

using Rows = std::vector<std::vector<double>>;

Rows random_rows(std::size_t count, std::size_t channels, std::uint64_t seed) {
  const Random random(seed, 1);
  Rows rows(count);
  std::uint64_t next = 0;
  for (auto& row : rows)
    for (std::size_t c = 0; c < channels; ++c) row.push_back(random.normal(next++));
  return rows;
}

/// Returns the sum of eight partial sums. Each of them contains every eighth channel.
engine::Element one_by_one(const Call& call, const Rows& left, const Rows& right) {
  engine::ToleranceReading<double, 0> on(call.units, {});
  engine::SumOverRows<0> sums[8];
  for (std::size_t k = 0; k < left.size(); ++k)
    for (std::size_t c = 0; c < left[k].size(); ++c)
      sums[c % 8].add(product(on, call, left[k][c], right[k][c]), {}, 1.0);
  engine::Element all;
  for (const auto& sum : sums) {
    const engine::Element& x = sum.element();
    all.value += x.value;
    all.magnitude += x.magnitude;
    all.rigorous += x.rigorous;
    all.squares += x.squares;
    all.moment += x.moment;
    all.drift += x.drift;
    all.value_squares += x.value_squares;
  }
  return all;
}

void expect_same(const engine::Element& a, const engine::Element& b) {
  EXPECT_EQ(a.value, b.value);
  EXPECT_EQ(a.magnitude, b.magnitude);
  EXPECT_EQ(a.rigorous, b.rigorous);
  EXPECT_EQ(a.squares, b.squares);
  EXPECT_EQ(a.moment, b.moment);
  EXPECT_EQ(a.drift, b.drift);
  EXPECT_EQ(a.value_squares, b.value_squares);
}

TEST(BilinearRows, ContractionsHaveTheSameBitsForAllInstructions) {
  const engine::Store half(11, -14, engine::Direction::nearest_even);
  for (const std::size_t channels : {1, 2, 3, 4, 5, 7, 8, 11, 12, 14, 17, 64, 101})
    for (const bool rounds : {false, true}) {
      Call call{.stage = half};
      if (rounds) call.part = engine::Store(8, -126, engine::Direction::nearest_even);
      const Rows left = random_rows(5, channels, 1), right = random_rows(5, channels, 2);
      std::vector<const double*> lefts, rights;
      for (const auto& row : left) lefts.push_back(row.data());
      for (const auto& row : right) rights.push_back(row.data());
      const Pairs pairs{.left = lefts.data(),
                        .right = rights.data(),
                        .count = std::ssize(left),
                        .channels = static_cast<std::int64_t>(channels)};
      std::vector<engine::Element> all;
      for (const auto instructions : engine::available_instructions())
        engine::read_with(instructions, [&](auto compiled) {
          all.push_back(read_contraction(compiled, call, pairs));
        });
      for (const engine::Element& one : all) {
        SCOPED_TRACE(channels);
        expect_same(one, all.back());
        if (!rounds) expect_same(one, one_by_one(call, left, right));
      }
    }
}

}  // namespace
}  // namespace assay::conformance::bilinear
