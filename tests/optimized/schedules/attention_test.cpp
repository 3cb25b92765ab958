#include "assay/optimized/schedules/attention.hpp"

#include <gtest/gtest.h>

#include "assay/device/scratchpad.hpp"
#include "assay/optimized/schedules/gradient.hpp"
#include "problems.hpp"

namespace {

using namespace assay;
using namespace assay::optimized::schedules;
using device::Pipe;

/// Returns an attention problem that gives each core `count` rounds. A round is a group of 4 x 4
/// tiles that a core processes together.
Attention rounds(std::int64_t count) {
  return {.heads = 24 * count, .heads_kv = 24 * count, .seq_q = 512, .seq_kv = 512};
}

/// Returns how many cycles one queue is busy for a tile of 128 x 128 scores: the difference between
/// the times of 18 and 17 rounds of 16 tiles, divided by 16.
double of_tile(const Round& round, Pipe pipe) {
  const device::Spec spec = boundless_memories();
  return (cycles(model(rounds(18), round, spec), pipe) -
          cycles(model(rounds(17), round, spec), pipe)) /
         16;
}

TEST(Attention, CountsBlocksThatHoldAPair) {
  EXPECT_EQ((Attention{.heads = 3, .seq_q = 256, .seq_kv = 384}.blocks()), 3 * 6);
  EXPECT_EQ((Attention{.seq_q = 4096, .seq_kv = 4096, .causal = true}.blocks()), 32 * 33 / 2);
  // Query 0 attends to keys 0 to 128, which lie in two blocks of 128 keys. Query 255 attends to all
  // 384 keys.
  EXPECT_EQ((Attention{.seq_q = 256, .seq_kv = 384, .causal = true}.blocks()), 2 + 3);
  EXPECT_EQ((Attention{.seq_q = 384, .seq_kv = 128, .causal = true}.blocks()), 0 + 0 + 1);
}

/// According to the published description of the schedule, a tile reads 176 KiB, moves 176 KiB out
/// of L0C and needs five products.
TEST(Gradient, BasicFamilyMovesThePublishedBytesOfABlock) {
  EXPECT_NEAR(of_tile(basic(), Pipe::cube_mte2), 176 * 1024.0 / 88, 0.01);
  EXPECT_NEAR(of_tile(basic(), Pipe::fixpipe), 176 * 1024.0 * 3 / 256, 0.01);
  EXPECT_NEAR(of_tile(basic(), Pipe::cube), 5 * 518, 0.01);
  EXPECT_NEAR(of_tile(basic(), Pipe::vector_mte2), 64 * 1024.0 / 64, 0.01);
  EXPECT_NEAR(of_tile(basic(), Pipe::mte3), 32 * 1024.0 / 80, 0.01);
}

/// According to the published description of the schedule, a tile reads 120 KiB and moves 192 KiB
/// out of L0C.
TEST(Gradient, SameAbFamilyMovesThePublishedBytesOfABlock) {
  EXPECT_NEAR(of_tile(same_ab(), Pipe::cube_mte2), 120 * 1024.0 / 88, 0.01);
  EXPECT_NEAR(of_tile(same_ab(), Pipe::fixpipe), 192 * 1024.0 * 3 / 256, 0.01);
  EXPECT_NEAR(of_tile(same_ab(), Pipe::cube), 5 * 518, 0.01);
}

/// By the costs of the instructions, each vector core needs about 2280 cycles for a tile. The
/// schedule sameAB also copies 96 KiB between the layouts "tiles" and "rows", at 256 B per cycle
/// and with four instructions.
TEST(Gradient, BlockTakesThePublishedVectorCycles) {
  EXPECT_NEAR(of_tile(basic(), Pipe::vector), 2280, 25);
  EXPECT_NEAR(of_tile(same_ab(), Pipe::vector) - of_tile(basic(), Pipe::vector),
              96 * 1024.0 / 256 + 4 * (1 + 16), 0.01);
}

/// According to the published description of the schedule, the buffers for 512 x 512 scores fill
/// the memory L1 completely.
TEST(Gradient, FaultsWhereARoundDoesNotFitByOneByte) {
  device::Spec spec = device::a2();
  EXPECT_NO_THROW(model(rounds(1), same_ab(), spec));
  spec.memories.l1.value -= 1;
  EXPECT_THROW(model(rounds(1), same_ab(), spec), device::DeviceFault);
  spec = device::a2();
  spec.memories.ub.value = 96 * 1024 - 1;
  EXPECT_THROW(model(rounds(1), same_ab(), spec), device::DeviceFault);
}

TEST(Gradient, IsDelayedBySharedMemoryAndHandovers) {
  const device::Spec usual = device::a2();
  device::Spec narrow = usual, far = usual;
  narrow.rates.l2_bandwidth.value /= 2;
  far.overheads.handover.value += 10000;
  const auto seconds = [](const device::Spec& spec) {
    return model(rounds(4), same_ab(), spec).seconds;
  };
  EXPECT_GT(seconds(narrow), 1.5 * seconds(usual));
  EXPECT_GT(seconds(far), seconds(usual) + 2 * 10000 / 1.8e9 - 1e-9);
}

TEST(Forward, ReadsKeysValuesAndProbabilitiesOfEveryTile) {
  // Compares 18 tiles of 128 x 1024 scores per core with 17. A tile reads the query, and the keys,
  // values and P of eight blocks.
  const auto read = [](std::int64_t tiles) {
    const Attention attention = {.heads = 24, .seq_q = 128, .seq_kv = tiles * 1024};
    return cycles(model(attention, Forward{}, boundless_memories()), Pipe::cube_mte2);
  };
  EXPECT_NEAR(read(1), (1 + 3 * 8) * 32768.0 / 88, 0.01);
  EXPECT_NEAR(read(18) - read(17), (1 + 3 * 8) * 32768.0 / 88, 0.01);
}

/// The times of softmax and sums were fitted to measurements: row F11 of the validation table in
/// bench/validation.
TEST(Forward, TakesTheFittedVectorCycles) {
  const auto vector = [](std::int64_t tiles) {
    const Attention attention = {.heads = 24, .seq_q = 128, .seq_kv = tiles * 256};
    return cycles(model(attention, Forward{.columns = 256}, boundless_memories()), Pipe::vector);
  };
  EXPECT_NEAR(vector(18) - vector(17), 2488.9 + 833.7, 0.01);
}

TEST(Forward, OverlapsTransfersWithScoresAhead) {
  const Attention attention = {.heads = 24, .seq_q = 128, .seq_kv = 8192};
  device::Spec spec = device::a2();
  spec.overheads.handover.value = 5000;
  EXPECT_LT(model(attention, Forward{.columns = 256, .ahead = 2}, spec).seconds,
            0.8 * model(attention, Forward{.columns = 256, .ahead = 1}, spec).seconds);
}

// This test fails if the modelled time changes. If the change is intended, update the expected
// times.
TEST(Forward, TakesTheTimeThatItTookBefore) {
  const auto microseconds = [](const Attention& attention, const Forward& schedule) {
    return model(attention, schedule, device::a2()).seconds * 1e6;
  };
  EXPECT_NEAR(microseconds({.heads = 24, .seq_q = 1024, .seq_kv = 2048}, {}), 158.068460, 1e-6);
  EXPECT_NEAR(microseconds({.heads = 30, .seq_q = 2048, .seq_kv = 2048, .causal = true},
                           {.columns = 256, .ahead = 2}),
              242.812071, 1e-6);
}

}  // namespace
