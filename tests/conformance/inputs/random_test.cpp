#include "assay/conformance/inputs/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "assay/conformance/operators/flash_attention_score_grad.hpp"

namespace assay::conformance {
namespace {

// Test vectors that the authors of philox4x64-10 published: counter, key, block. Our generator
// first adds one to the first word of the counter, so the test passes a counter that is smaller by
// one.
TEST(Random, BlocksAreThoseThatTheGeneratorsAuthorsPublish) {
  constexpr auto ones = ~std::uint64_t{0};
  static_assert(Random(0, 0).block(ones) == Random::Block{0x16554d9eca36314c, 0xdb20fe9d672d0fdc,
                                                          0xd7e772cee186176b, 0x7e68b68aec7ba23b});
  EXPECT_EQ(Random(ones, ones, {ones, ones, ones}).block(ones - 1),
            (Random::Block{0x87b092c3013fe90b, 0x438c3c67be8d0224, 0x9cc7d7c69cd777b6,
                           0xa09caebf594f0ba0}));
  const Random digits(0x452821e638d01377, 0xbe5466cf34e90c6c,
                      {0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89});
  EXPECT_EQ(digits.block(0x243f6a8885a308d3 - 1),
            (Random::Block{0xa528f45403e61d95, 0x38c72dbd566e9788, 0xa5a1610e72fd18b5,
                           0x57bd43b5e52b7fe6}));
}

TEST(Random, ValuesAreKnownAndThereforeTheSameOnEveryMachine) {
  constexpr Random random = stream(1, Stream::value);
  EXPECT_EQ(random.bits(0), random.block(0)[0]);
  EXPECT_EQ(random.bits(0), 0x4f2f4313b5536b09u);
  EXPECT_EQ(random.normal(0), -0x1.be72p-1);
}

TEST(Random, StreamsAndSeedsDiffer) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    for (const Stream which :
         {Stream::query, Stream::key, Stream::value, Stream::dy, Stream::mask, Stream::exact_case,
          Stream::sampling, Stream::query_rope, Stream::key_rope, Stream::pse, Stream::drop})
      seen.insert(stream(seed, which).bits(0));
  EXPECT_EQ(seen.size(), 220u);
}

TEST(Random, NormalHasMeanZeroAndDeviationOne) {
  constexpr Random random = stream(7, Stream::value);
  constexpr int count = 200000;
  double sum = 0, squares = 0;
  for (int k = 0; k < count; ++k) {
    const double x = random.normal(static_cast<std::uint64_t>(k));
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / count, 0, 0.01);
  EXPECT_NEAR(squares / count, 1, 0.02);
}

TEST(Random, IntegersReachBothEnds) {
  constexpr Random random = stream(3, Stream::sampling);
  std::set<std::int64_t> seen;
  for (std::uint64_t k = 0; k < 200; ++k) seen.insert(random.integer(k, -2, 2));
  EXPECT_EQ(seen, (std::set<std::int64_t>{-2, -1, 0, 1, 2}));
}

TEST(JudgedRows, AreAllWhereNoneOrEnoughAreWanted) {
  EXPECT_EQ(judged_rows(4, 0, 1), (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(judged_rows(4, 4, 1), (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_TRUE(judged_rows(0, 5, 1).empty());
}

TEST(JudgedRows, AreAsManyAsWantedAscendingAndUnique) {
  for (const std::int64_t extent : {2, 17, 130, 1000, 4096, 1048576})
    for (const std::int64_t wanted : {1, 2, 3, 7, 16, 64}) {
      if (wanted >= extent) continue;
      const auto rows = judged_rows(extent, wanted, 5);
      EXPECT_EQ(static_cast<std::int64_t>(rows.size()), wanted);
      for (std::size_t k = 1; k < rows.size(); ++k) EXPECT_LT(rows[k - 1], rows[k]);
      EXPECT_EQ(rows.back(), extent - 1);
      if (wanted > 1) {
        EXPECT_EQ(rows.front(), 0);
      }
    }
}

TEST(JudgedRows, HoldTileEdgesAndRowsThatTheSeedChanges) {
  const auto rows = judged_rows(4096, 16, 1);
  for (const std::int64_t edge : {127, 128, 3967, 3968})
    EXPECT_TRUE(std::ranges::binary_search(rows, edge)) << edge;
  EXPECT_NE(rows, judged_rows(4096, 16, 2));
  EXPECT_EQ(rows, judged_rows(4096, 16, 1));
}

}  // namespace
}  // namespace assay::conformance
