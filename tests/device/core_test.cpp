#include "assay/device/core.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace {

using namespace assay::device;

TEST(CubeCore, RunsALoneTileThroughItsQueuesOneAfterAnother) {
  const Spec spec = a2();
  CubeCore core(spec);
  const Bytes tile = {128 * 128 * 2};
  Cycles at = core.load({.rows = 1, .row = tile}, {});
  at = core.load_l0a(tile, at);
  at = core.load_l0b(tile, at);
  at = core.multiply({128, 128, 128, {2}}, at);
  at = core.drain({128 * 128 * 4}, Drain::store, at);
  const double load = 210 + 32768.0 / 88, l0 = 26 + 128 + 26 + 256, drain = 256 + 512;
  EXPECT_DOUBLE_EQ(at.count, load + l0 + 518 + drain);
  EXPECT_EQ(core.timeline().busy(Pipe::cube).count, 518);
}

TEST(CubeCore, HasTheBuffersOfItsSpec) {
  const Spec spec = a2();
  CubeCore core(spec);
  EXPECT_EQ(core.l1.capacity().count, 512 * 1024);
  EXPECT_EQ(core.l0c.capacity().count, 128 * 1024);
  EXPECT_THROW(core.l0a.allocate({64 * 1024 + 1}, "left"), DeviceFault);
}

TEST(VectorCore, RunsLoadComputeAndStore) {
  const Spec spec = a2();
  VectorCore core(spec);
  Cycles at = core.load({6400}, {});
  at = core.compute(spec.vector.exp, {6400}, at);
  at = core.store({8000}, at);
  EXPECT_DOUBLE_EQ(at.count, (300 + 100) + (12 + 2 * 25 + 16) + (150 + 100));
}

/// Any sequence of tiles, double-buffered or not: neither matrix unit nor memory is faster than it
/// can be.
RC_GTEST_PROP(CubeCore, NeverBeatsTheRoofline, ()) {
  const Spec spec = a2();
  CubeCore core(spec);
  const Bytes element = {*rc::gen::element<std::int64_t>(2, 4)};
  const auto edge = [] { return *rc::gen::inRange<std::int64_t>(1, 257); };
  double flops = 0, bytes = 0;
  Cycles previous = {}, end = {};
  const auto tiles = *rc::gen::inRange(1, 20);
  for (int tile = 0; tile < tiles; ++tile) {
    const Mmad step = {edge(), edge(), edge(), element};
    const Region region = {
        .rows = step.m, .row = step.k * element, .contiguous = *rc::gen::arbitrary<bool>()};
    const Cycles loaded = core.load(region, *rc::gen::arbitrary<bool>() ? previous : Cycles{});
    previous = end;
    end = core.multiply(step, core.load_l0a(region.total(), loaded));
    flops += static_cast<double>(step.m * step.n * step.k);
    bytes += static_cast<double>(region.total().count);
  }
  const double makespan = core.timeline().makespan().count;
  RC_ASSERT(makespan >= flops / peak_rate(spec, element));
  RC_ASSERT(makespan >= bytes / spec.rates.gm_to_l1.value);
}

}  // namespace
