#include "assay/optimized/schedules/planner.hpp"

#include <gtest/gtest.h>

#include <ctime>

#include "assay/device/scratchpad.hpp"

namespace {

using namespace assay;
using namespace assay::optimized::schedules;
using device::Pipe;

/// Eight heads of BNSD.
Attention square(std::int64_t seq, bool causal = false, std::int64_t head_dim = 128) {
  return {.heads = 8,
          .heads_kv = 8,
          .seq_q = seq,
          .seq_kv = seq,
          .head_dim = head_dim,
          .causal = causal};
}

/// Cycles of one queue for a tile, from one round more on every core.
double of_tile(const Woven& woven, Pipe pipe) {
  device::Spec spec = device::a2();
  spec.rates.l2_bandwidth.value = spec.rates.hbm_bandwidth.value = 1e18;
  const auto cycles = [&](std::int64_t rounds) {
    const Attention attention = {.heads = 24 * rounds,
                                 .heads_kv = 24 * rounds,
                                 .seq_q = woven.rows * 128,
                                 .seq_kv = woven.columns * 128};
    const Modelled modelled = model(attention, woven, spec);
    return modelled.share(pipe) * modelled.seconds * 1.8e9;
  };
  return (cycles(18) - cycles(17)) / static_cast<double>(woven.rows * woven.columns);
}

TEST(Woven, MovesTheBytesOfItsRound) {
  // Rounds of 4 x 2 tiles by groups of 2 rows. Scores and dP: 8 tiles of rows, for the first group
  // 4 of columns, for the second 2; 2 keys, 4 of query and 4 of dy stay; dS twice and P once: 14 +
  // 10
  // + 24 tiles of 32 KiB in 8. Drains of 64 KiB: 16 of scores and dP, 4 of dq, 2 of dk and 2 of dv.
  const Woven woven = {.rows = 4, .columns = 2, .group = 2};
  EXPECT_NEAR(of_tile(woven, Pipe::cube_mte2), 48 * 32768.0 / 88 / 8, 0.01);
  EXPECT_NEAR(of_tile(woven, Pipe::fixpipe), 24 * 65536.0 * 3 / 256 / 8, 0.01);
  // Three products of 512 steps and four halves of 256, six to start each.
  EXPECT_NEAR(of_tile(woven, Pipe::cube), 3 * 518 + 4 * 262, 0.01);
}

TEST(Woven, FaultsWhereItDoesNotFitByOneByte) {
  // 4 + 2 + 6 + 4 tiles are all of L1; a sum and two halves of scores all of L0C.
  const Woven woven = {.rows = 6, .columns = 6, .score_buffers = 4};
  device::Spec spec = device::a2();
  EXPECT_NO_THROW(model(square(1024), woven, spec));
  spec.memories.l1.value -= 1;
  EXPECT_THROW(model(square(1024), woven, spec), device::DeviceFault);
  spec = device::a2();
  spec.memories.l0c.value -= 1;
  EXPECT_THROW(model(square(1024), woven, spec), device::DeviceFault);
  // Rounds of 8 x 8 tiles leave 192 MiB of P and dS of 24 cores, without any room for scores.
  EXPECT_THROW(model(square(1024), Woven{.rows = 8, .columns = 8}, device::a2()),
               device::DeviceFault);
}

TEST(Deal, OfACausalMaskDependsOnWhatARoundSkips) {
  // 2048 causal, 8 heads: 10 rounds of 4 x 4 a head, whole 4 a core; a stream of 136 tiles a head
  // makes 68 rounds, 3 a core. On bounds alone the whole rounds take 4 / 3 of the time.
  Round whole = basic(), stream = basic();
  whole.masked = Masked::whole;
  const device::Spec spec = device::a2();
  const auto busy = [&](const Round& round) {
    const Modelled modelled = model(square(2048, true), round, spec);
    return modelled.share(Pipe::cube) * modelled.seconds;
  };
  EXPECT_NEAR(busy(whole) / busy(stream), 4.0 / 3, 1e-9);
  EXPECT_EQ(same_ab().masked, Masked::whole);
  EXPECT_EQ(basic().masked, Masked::stream);
}

TEST(Passes, OfOurScheduleAreTwoAndOfTheVendorsThree) {
  device::Spec slow = device::a2();
  slow.overheads.sync_all.value += 1;
  const auto later = [&](const auto& schedule) {
    return model(square(512), schedule, slow).seconds -
           model(square(512), schedule, device::a2()).seconds;
  };
  EXPECT_NEAR(later(same_ab()), 3, 1e-9);
  EXPECT_NEAR(later(Woven{}), 2, 1e-9);
}

TEST(Planner, IsNeverSlowerThanTheVendorsFamilies) {
  const device::Spec spec = device::a2();
  for (const std::int64_t seq : {77, 257, 1500})
    for (const std::int64_t head_dim : {40, 64, 128, 192})
      for (const bool causal : {false, true}) {
        const Attention attention = square(seq, causal, head_dim);
        const auto all = plans(attention, spec);
        ASSERT_FALSE(all.empty()) << seq << " " << head_dim;
        for (const Plan& vendor : vendor_plans(attention, spec))
          EXPECT_LE(all.front().modelled.seconds, vendor.modelled.seconds) << seq << head_dim;
      }
}

TEST(Planner, BeatsTheVendorOnLongSequences) {
  for (const bool causal : {false, true}) {
    const auto all = plans(square(8192, causal), device::a2());
    const Modelled vendor = model(square(8192, causal), same_ab(), device::a2());
    EXPECT_GT(vendor.seconds, 1.1 * all.front().modelled.seconds);
    EXPECT_LE(all[0].modelled.seconds, all[1].modelled.seconds);
  }
}

TEST(Planner, TakesLittleOfAProcessorsTime) {
  const std::clock_t start = std::clock();
  plans(square(8192), device::a2());
  // Sanitizers are slower than the program that people wait for.
  EXPECT_LT(std::clock() - start, 10 * CLOCKS_PER_SEC);
}

TEST(Planner, ChoosesAnotherScheduleWhereACapacityShrinksByOneByte) {
  device::Spec spec = device::a2();
  const std::string before = plans(square(8192), spec).front().to_text();
  spec.memories.l1.value -= 1;
  const auto after = plans(square(8192), spec);
  EXPECT_NE(after.front().to_text(), before);
  spec.memories.ub.value = 0;
  EXPECT_TRUE(plans(square(8192), spec).empty());
}

TEST(Buffers, OfAScheduleAreListedWithTheirPlaces) {
  const Woven woven = {.rows = 6, .columns = 6, .score_buffers = 4};
  const auto all = buffers_of(square(1024), woven, device::a2());
  const auto end = [&](const std::string& memory) {
    std::int64_t last = 0;
    for (const auto& buffer : all)
      if (buffer.memory == memory) last = buffer.offset.count + buffer.size.count;
    return last;
  };
  EXPECT_EQ(end("L1"), 512 * 1024);
  EXPECT_EQ(end("L0C"), 128 * 1024);
  EXPECT_EQ(end("UB"), 96 * 1024);
  // 4 steps of 2 tiles of 128 KiB, and 36 tiles of 64 KiB of two rounds, of 24 cores.
  EXPECT_EQ(end("L2"), 24 * (8 * 128 + 72 * 64) * 1024);
}

TEST(Report, NamesTheFastestTheNextAndTheVendors) {
  const std::string text = report(square(8192), device::a2());
  for (const char* part : {"fastest schedule: woven", "held up most by L2", "next: ",
                           "vendor's basic", "vendor's sameAB", " times as long", "  UB dS: "})
    EXPECT_NE(text.find(part), std::string::npos) << part;
}

TEST(Trace, HasAnEventForEveryInstructionThatTakesTime) {
  const device::Spec spec = device::a2();
  const Attention attention = square(512);
  const auto best = plans(attention, spec).front();
  const device::Program program =
      std::visit([&](const auto& of) { return program_of(attention, of, spec, 4); }, best.schedule);
  std::size_t expected = 0;
  for (std::size_t id = 0; id < program.size(); ++id)
    expected += program.task(static_cast<device::TaskId>(id)).cycles.count > 0;
  const std::string json = trace(attention, spec);
  std::size_t events = 0;
  for (std::size_t at = json.find("\"ph\": \"X\""); at != std::string::npos;
       at = json.find("\"ph\": \"X\"", at + 1))
    ++events;
  EXPECT_EQ(events, expected);
  EXPECT_GT(events, 100U);
}

TEST(Bound, IsWhatIsBusyLongest) {
  Modelled modelled;
  modelled.l2_share = 0.5;
  EXPECT_EQ(bound_of(modelled).name, "L2");
  modelled.busy[static_cast<std::size_t>(Pipe::fixpipe)] = 0.6;
  EXPECT_EQ(bound_of(modelled).name, "FixPipe");
  EXPECT_EQ(bound_of(modelled).share, 0.6);
}

}  // namespace
