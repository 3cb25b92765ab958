#include "assay/device/cost.hpp"

#include <gtest/gtest.h>

namespace {

using namespace assay::device;

constexpr Bytes half = {2}, single = {4};
constexpr std::int64_t kib = 1024;

TEST(Cost, CubeTileCostsItsStartAndOneCyclePerFractal) {
  const Spec spec = a2();
  EXPECT_EQ(mmad(spec, {128, 128, 128, half}).count, 6 + 512);
  EXPECT_EQ(mmad(spec, {128, 128, 128, single}).count, 6 + 2048);
  EXPECT_EQ(mmad(spec, {1, 1, 1, half}).count, 7);
  EXPECT_EQ(mmad(spec, {17, 16, 16, half}).count, 8);
}

TEST(Cost, CutsRowsIntoPackagesGreedily) {
  const auto sizes = [](std::int64_t row) {
    std::vector<std::int64_t> counts;
    for (const Bytes size : packages({row})) counts.push_back(size.count);
    return counts;
  };
  EXPECT_EQ(sizes(1024), (std::vector<std::int64_t>{512, 512}));
  EXPECT_EQ(sizes(1000), (std::vector<std::int64_t>{512, 256, 128, 104}));
  EXPECT_EQ(sizes(32), (std::vector<std::int64_t>{32}));
}

TEST(Cost, PureStreamReachesTheBandwidth) {
  const Spec spec = a2();
  const double bytes = 64.0 * 1024 * 1024;
  const Bytes size = {static_cast<std::int64_t>(bytes)};
  EXPECT_NEAR(bytes / gm_to_l1_transfer(spec, {.rows = 1, .row = size}).count, 88, 0.1);
  EXPECT_NEAR(bytes / gm_to_ub(spec, size).count, 64, 0.1);
  EXPECT_NEAR(bytes / ub_to_gm(spec, size).count, 80, 0.1);
  EXPECT_NEAR(bytes / seconds_of(spec, hbm_time(spec, size)), 0.93 * 1.6e12, 1);
}

TEST(Cost, RateOfStridedRowsFallsWithTheirLength) {
  Spec spec = a2();
  spec.rates.package.value = 5.8;
  const auto rate = [&](std::int64_t row) {
    const Region region = {.rows = 1000, .row = {row}, .contiguous = false};
    return static_cast<double>(region.total().count) / gm_to_l1_transfer(spec, region).count;
  };
  EXPECT_NEAR(rate(512), 88, 0.5);
  EXPECT_NEAR(rate(256), 44, 0.5);
  EXPECT_NEAR(rate(128), 22, 0.5);
}

/// The cost of one block of 128 x 128 scores with 16-bit numbers and D = 128 channels, computed by
/// hand.
TEST(Cost, ReproducesTheWorkedNumbersOfABlock) {
  Spec spec = a2();
  spec.rates.package.value = 5.8, spec.rates.l2_bandwidth.value = 5.5e12;  // from section 6.5
  EXPECT_EQ(5 * (mmad(spec, {128, 128, 128, half}).count - spec.rates.cube_start.value), 2560);
  const Region rows = {.rows = 176 * kib / 256, .row = {256}, .contiguous = false};
  EXPECT_NEAR(gm_to_l1_transfer(spec, rows).count, 4096, 20);
  spec.rates.package.value = 8;
  EXPECT_EQ(gm_to_l1_transfer(spec, rows).count, 5632);
  spec.rates.package.value = 3;
  EXPECT_EQ(gm_to_l1_transfer(spec, rows).count, 2112);
  EXPECT_EQ(gm_to_l1_transfer(spec, {.rows = 1, .row = {176 * kib}}).count, 2048);
  EXPECT_NEAR(gm_to_l1_transfer(spec, {.rows = 1, .row = {120 * kib}}).count, 1396, 1);
  EXPECT_NEAR(fixpipe(spec, {176 * kib}, Drain::store).count, 2113, 2);
  EXPECT_NEAR(fixpipe(spec, {192 * kib}, Drain::store).count, 2305, 2);
  EXPECT_NEAR(l2_time(spec, {24 * 544 * kib}).count, 4375, 2);
  EXPECT_NEAR(l2_time(spec, {24 * 504 * kib}).count, 4053, 2);
  EXPECT_EQ(gm_to_ub_transfer(spec, {64 * kib}).count, 1024);
  EXPECT_NEAR(ub_to_gm_transfer(spec, {32 * kib}).count, 410, 1);
}

TEST(Cost, SoftmaxOfHalfABlockTakesAbout2280Cycles) {
  const Spec spec = a2();
  const auto& v = spec.vector;
  double total = 0;
  for (const auto* operation :
       {&v.muls, &v.sub, &v.exp, &v.div, &v.cast_to_16bit, &v.sub, &v.mul, &v.cast_to_16bit})
    total += vector(spec, *operation, {64 * 128 * 4}).count;
  EXPECT_NEAR(total, 2280, 25);
}

TEST(Cost, PeaksAtThePublishedRates) {
  const Spec spec = a2();
  EXPECT_EQ(peak_rate(spec, half), 4096);
  EXPECT_EQ(peak_rate(spec, single), 1024);
  EXPECT_NEAR(2 * peak_rate(spec, half) * spec.cores.cube.value * spec.cores.clock.value, 353.9e12,
              0.1e12);
}

TEST(Cost, ChargesAtomicDrainsForCollisionsWhereTheSpecSaysSo) {
  Spec spec = a2();
  EXPECT_EQ(fixpipe(spec, {1024}, Drain::atomic_add), fixpipe(spec, {1024}, Drain::store));
  spec.rates.atomic_collision.value = 1.2;
  EXPECT_GT(fixpipe(spec, {1024}, Drain::atomic_add), fixpipe(spec, {1024}, Drain::store));
}

}  // namespace
