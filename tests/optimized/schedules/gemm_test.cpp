#include "assay/optimized/schedules/gemm.hpp"

#include <gtest/gtest.h>

#include "assay/device/scratchpad.hpp"
#include "assay/optimized/schedules/stream.hpp"
#include "problems.hpp"

namespace {

using namespace assay;
using namespace assay::optimized::schedules;
using device::Cycles;
using device::Pipe;

TEST(Gemm, OneTileTakesItsLoadsItsProductAndItsDrain) {
  // The modelled time of one tile. Two operands of 32 KiB are loaded one after the other at 88 B a
  // cycle, and can be used 210 cycles later. The right operand is copied into L0B at 128 B a cycle.
  // Then the cube unit (the matrix unit) takes 512 steps. At the end 64 KiB are moved out of L0C.
  const Gemm gemm = {
      .m = 128, .n = 128, .k = 128, .base_n = 128, .base_k = 128, .step_k = 1, .contiguous = true};
  const Modelled modelled = model(gemm, boundless_memories());
  const double loads = 2 * 32768.0 / 88 + 210, right = 26 + 256, product = 6 + 512;
  const double drain = 65536.0 / 256 + 65536.0 / 128;
  EXPECT_NEAR(modelled.seconds, 3.2e-6 + (loads + right + product + drain) / 1.8e9, 1e-12);
  EXPECT_NEAR(cycles(modelled, Pipe::cube), 518, 1e-6);
}

TEST(Gemm, ReadsEachOperandOnceForEveryTileOfTheOther) {
  // A product of 6144 x 6144 x 6144 in tiles of 128 x 256. Each of 24 cores computes 48 tiles, and
  // each tile loads (128 + 256) x 6144 x 2 B.
  const Gemm gemm = {.m = 6144, .n = 6144, .k = 6144};
  const Modelled modelled = model(gemm, boundless_memories());
  EXPECT_NEAR(cycles(modelled, Pipe::cube_mte2), 48.0 * 384 * 6144 * 2 / 88, 1e4);
  EXPECT_NEAR(cycles(modelled, Pipe::fixpipe), 48 * (512 + 1024.0), 1);
}

TEST(Gemm, ShortRowsPayForPackages) {
  // A left operand with 64 columns has rows of 128 B. Loading such a row takes 3 cycles. If the
  // rows were contiguous, 128 B would take only 128 / 88 cycles.
  Gemm gemm = {.m = 1280,
               .n = 128,
               .k = 64,
               .base_n = 128,
               .base_k = 64,
               .step_k = 1,
               .cores = 1,
               .right_rows_along_k = true};
  const device::Spec spec = boundless_memories();
  EXPECT_NEAR(cycles(model(gemm, spec), Pipe::cube_mte2), 10 * 256 * 3, 1e-6);
  gemm.contiguous = true;
  EXPECT_NEAR(cycles(model(gemm, spec), Pipe::cube_mte2), 10 * 256 * 128.0 / 88, 1e-6);
}

TEST(Gemm, FaultsWhereItsBuffersDoNotFit) {
  // The operands need two buffers of (128 + 256) x 256 x 2 B, together 384 KiB.
  device::Spec spec = device::a2();
  const Gemm gemm = {.m = 1024, .n = 1024, .k = 1024};
  spec.memories.l1.value = 393216;
  EXPECT_NO_THROW(model(gemm, spec));
  spec.memories.l1.value -= 1;
  EXPECT_THROW(model(gemm, spec), device::DeviceFault);
}

TEST(Stream, ReadsAtTheRateOfHbm) {
  const device::Spec spec = device::a2();
  const device::Bytes size = {std::int64_t{1} << 30};
  const double seconds = static_cast<double>(size.count) /
                         (spec.rates.hbm_bandwidth.value * spec.rates.hbm_efficiency.value);
  EXPECT_NEAR(model(Stream{.read = size}, spec).seconds / (seconds + 3.2e-6), 1, 0.005);
  const Stream both = {.read = size, .written = size, .operation = &spec.vector.muls};
  EXPECT_NEAR(model(both, spec).seconds / (2 * seconds + 3.2e-6), 1, 0.03);
}

TEST(Rounds, FurtherRoundsAreAddedAtTheSteadyPace) {
  const device::Spec spec = device::a2();
  const Writer write = [](device::Instructions& code, std::int64_t rounds) {
    for (std::int64_t k = 0; k < rounds; ++k) {
      const device::TaskId load = code.load({.rows = 1, .row = {8800}}, {});
      code.multiply({128, 128, 128, {2}}, {load});
    }
  };
  const device::Share share = share_of(spec, 24);
  const Rounds all = run_rounds(spec, share, 100, 100, write);
  const Rounds some = run_rounds(spec, share, 100, 8, write);
  EXPECT_NEAR(some.makespan.count, all.makespan.count, 1e-6);
  EXPECT_NEAR(some.l2_bytes, all.l2_bytes, 1e-6);
  EXPECT_NEAR(some.busy[0].count, all.busy[0].count, 1e-6);
  // After the first rounds each further round takes 518 cycles, so half a round takes 259.
  for (const double whole : {5.0, 100.0}) {
    const Cycles part = run_rounds(spec, share, whole + 0.5, 8, write).makespan;
    EXPECT_NEAR((part - run_rounds(spec, share, whole, 8, write).makespan).count, 259, 1e-6);
  }
}

}  // namespace
