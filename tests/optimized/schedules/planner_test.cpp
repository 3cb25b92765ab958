#include "assay/optimized/schedules/planner.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "assay/device/scratchpad.hpp"
#include "problems.hpp"

namespace {

using namespace assay;
using namespace assay::optimized::schedules;
using device::Pipe;

/// Returns the costs of dropout and of a bias with two bytes per score.
Features biased_and_dropped() {
  using device::VectorCosts;
  return {.score_bits = 17,
          .of_scores = {&VectorCosts::cast_to_fp32, &VectorCosts::add, &VectorCosts::select,
                        &VectorCosts::muls},
          .of_dprob = {&VectorCosts::select, &VectorCosts::muls},
          .held = {{"bias", 32}, {"stored bias", 16}, {"drop bits", 1}, {"dropped prob", 32}},
          .tensors = {std::int64_t{1} << 20}};
}

/// Returns variants of an attention problem, one of them with a bias and dropout.
std::vector<Attention> modes() {
  std::vector<Attention> all = variants_of(square(512));
  all.push_back(square(512));
  all.back().features = biased_and_dropped();
  return all;
}

/// Returns how many cycles one queue is busy per tile. This is the difference between two problems,
/// one of which has one round more on every core.
double of_tile(const Woven& woven, Pipe pipe, const Attention& like = {}) {
  const device::Spec spec = boundless_memories();
  const auto cycles = [&](std::int64_t rounds) {
    Attention attention = like;
    attention.heads = attention.heads_kv = 24 * rounds;
    attention.seq_q = woven.rows * 128, attention.seq_kv = woven.columns * 128;
    const Modelled modelled = model(attention, woven, spec);
    return modelled.share(pipe) * modelled.seconds * 1.8e9;
  };
  return (cycles(18) - cycles(17)) / static_cast<double>(woven.rows * woven.columns);
}

TEST(Woven, MovesTheBytesOfItsRound) {
  // A round of this schedule has 4 x 2 = 8 tiles of scores, processed in groups of 2 rows. It loads
  // 50 tiles of 32 KiB. 16 are for scores and dP: 8 tiles of rows, and 4 tiles of columns for each
  // of two groups. 10 tiles stay in L1: 2 of keys, 4 of query, 4 of dy. 24 are for dS (loaded
  // twice) and P.
  // 24 results of 64 KiB leave L0C: 16 of scores and dP, 4 of dq, 2 of dk and 2 of dv.
  const Woven woven = {.rows = 4, .columns = 2, .group = 2};
  EXPECT_NEAR(of_tile(woven, Pipe::cube_mte2), 50 * 32768.0 / 88 / 8, 0.01);
  EXPECT_NEAR(of_tile(woven, Pipe::fixpipe), 24 * 65536.0 * 3 / 256 / 8, 0.01);
  // Each tile needs five products: three for the gradients and two for scores and dP. Each product
  // is computed in two halves of 256 steps, and each half needs six cycles to start.
  EXPECT_NEAR(of_tile(woven, Pipe::cube), 10 * 262, 0.01);
}

TEST(Woven, BringsAHalfOfAColumnIntoL0BOnceForItsGroup) {
  // For scores and dP a tile needs four half products. Each loads 32 KiB of query or dy. It also
  // loads 16 KiB of key or value, but only once for all rows of a group. The gradients need six
  // half products per tile, which load 16 KiB of each operand.
  const auto of_group = [](double rows) { return 4 * (26 + 128) + 4 * (26 + 128) / rows; };
  const double of_gradients = 6 * (26 + 64 + 26 + 128);
  for (const std::int64_t group : {1, 2, 4})
    EXPECT_NEAR(of_tile({.rows = 4, .columns = 2, .group = group}, Pipe::mte1),
                of_group(static_cast<double>(group)) + of_gradients, 0.01);
}

TEST(Woven, FaultsWhereItDoesNotFitByOneByte) {
  // The memories are exactly full: L1 with the buffers of 4 + 1 + 6 + 5 tiles, and L0C with one sum
  // and two halves of scores.
  const Woven woven = {.rows = 6, .columns = 6, .score_buffers = 10};
  device::Spec spec = device::a2();
  EXPECT_NO_THROW(model(square(1024), woven, spec));
  spec.memories.l1.value -= 1;
  EXPECT_THROW(model(square(1024), woven, spec), device::DeviceFault);
  spec = device::a2();
  spec.memories.l0c.value -= 1;
  EXPECT_THROW(model(square(1024), woven, spec), device::DeviceFault);
  // A round of this schedule has 8 x 8 tiles. Each of 24 cores needs this space in L2: 8 tiles of
  // 128 KiB for scores and dP, and 84 + 106 tiles of 32 KiB for P and dS.
  const Woven large = {.rows = 8, .columns = 8};
  spec = device::a2();
  spec.memories.l2.value = 24 * (8 * 128 + (84 + 106) * 32) * 1024;
  EXPECT_NO_THROW(model(square(1024), large, spec));
  spec.memories.l2.value -= 1;
  EXPECT_THROW(model(square(1024), large, spec), device::DeviceFault);
}

TEST(Features, TakeTheirBytesAndInstructionsOfATile) {
  const Woven woven = {.rows = 4, .columns = 2, .group = 2, .vector_tile = 2048};
  Attention plain, with;
  with.features = biased_and_dropped();
  const auto more = [&](Pipe pipe) { return of_tile(woven, pipe, with) - of_tile(woven, pipe); };
  const device::Spec spec = device::a2();
  const auto& v = spec.vector;
  // Each of two vector cores processes four tiles of 2,048 scores, with 17 additional bits per
  // score.
  EXPECT_NEAR(more(Pipe::vector_mte2), 4 * gm_to_ub_transfer(spec, {2048 * 17 / 8}).count, 0.01);
  double cycles = 0;
  for (const auto* operation : {&v.cast_to_fp32, &v.add, &v.select, &v.muls, &v.select, &v.muls})
    cycles += 4 * vector(spec, *operation, {2048 * 4}).count;
  EXPECT_NEAR(more(Pipe::vector), cycles, 0.01);
  for (const Pipe pipe : {Pipe::cube, Pipe::fixpipe, Pipe::mte3}) EXPECT_NEAR(more(pipe), 0, 0.01);
  const auto intensity = [&](const Attention& a) {
    return roofline_of(a, model(a, woven, spec), spec).hbm.intensity;
  };
  EXPECT_GT(intensity(plain), intensity(with));
}

TEST(Features, NeedRoomInTheUnifiedBuffer) {
  Attention attention = square(512);
  const Woven woven = {.rows = 2, .columns = 2, .vector_tile = 8192};
  const auto names = [&] {
    std::set<std::string> all;
    for (const optimized::Buffer& buffer : buffers_of(attention, woven, device::a2()))
      if (buffer.memory == "UB") all.insert(buffer.what);
    return all;
  };
  EXPECT_EQ(names(), (std::set<std::string>{"scores", "dP", "P", "dS"}));
  attention.features = biased_and_dropped();
  EXPECT_EQ(names(), (std::set<std::string>{"scores", "dP", "P", "dS", "bias", "stored bias",
                                            "drop bits", "dropped prob"}));
  // A score needs 12 bytes in the common buffers, and a little more than 10 in the additional
  // buffers for bias and dropout: 177 KiB for 8,192 scores.
  device::Spec spec = device::a2();
  spec.memories.ub.value = 177 * 1024;
  EXPECT_NO_THROW(buffers_of(attention, woven, spec));
  spec.memories.ub.value -= 1;
  EXPECT_THROW(buffers_of(attention, woven, spec), device::DeviceFault);
}

TEST(Features, MakeNoScheduleFasterAndLeaveTheVendorOneFamily) {
  Attention plain = square(1024), with = plain;
  with.features = biased_and_dropped();
  const device::Spec spec = device::a2();
  EXPECT_GT(plans(with, spec).front().modelled.seconds,
            plans(plain, spec).front().modelled.seconds);
  ASSERT_EQ(vendor_plans(plain, spec).size(), 2U);
  ASSERT_EQ(vendor_plans(with, spec).size(), 1U);
  EXPECT_EQ(vendor_plans(with, spec)[0].name, "sameAB");
}

TEST(Deal, CausalMaskCostDependsOnWhatARoundSkips) {
  // A causal problem with 8 heads and 2048 x 2048 scores. If the schedule computes all tiles of a
  // round, also the masked ones, a head has 10 rounds of 4 x 4 tiles, and the busiest core has 4
  // rounds. If it skips masked tiles, a head has 136 tiles. All heads together then have 68 rounds,
  // and the busiest core has 3. So computing masked tiles takes 4 / 3 of the time.
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

TEST(Deal, CutsRoundsThatAreLeftIfCoresWaitForThem) {
  // Tests 24 rounds of 4 x 4 tiles, one for each core, and then a few rounds more.
  const device::Spec spec = device::a2();
  const auto busy = [&](std::int64_t rounds, const auto& schedule) {
    const Attention attention = {.heads = rounds, .heads_kv = rounds, .seq_q = 512, .seq_kv = 512};
    const Modelled modelled = model(attention, schedule, spec);
    return modelled.share(Pipe::cube) * modelled.seconds;
  };
  const double one = busy(24, Woven{});
  // If 1 round remains for 24 cores, each core computes at most one column of this round. If 10
  // rounds remain, two cores share a column, and each computes a half.
  EXPECT_NEAR(busy(25, Woven{}), 1.25 * one, 1e-9 * one);
  EXPECT_NEAR(busy(34, Woven{}), 1.5 * one, 1e-9 * one);
  // If 16 rounds remain, some cores compute a full round. In the vendor's schedules some core
  // computes a full round for any remainder.
  EXPECT_NEAR(busy(40, Woven{}), 2 * one, 1e-9 * one);
  EXPECT_NEAR(busy(25, same_ab()), 2 * busy(24, same_ab()), 1e-9 * one);
}

TEST(Roofline, IsWhatCubeAndMemoriesAllowAtItsIntensities) {
  const device::Spec spec = device::a2();
  Modelled modelled;
  modelled.seconds = 2, modelled.l2_share = 0.5;
  // The roofline model of 8 heads. Each head needs five products of 2 x 1024 x 1024 x 128 FLOP. HBM
  // moves eight tensors of 8 x 1024 x 128 numbers with two bytes each. The test assumes a kernel
  // that runs for two seconds and moves as many bytes as L2 can move in one second.
  const Roofline roofline = roofline_of(square(1024), modelled, spec);
  const double flop = 5.0 * 8 * 2 * 1024 * 1024 * 128;
  EXPECT_NEAR(roofline.cube, 353.9e12, 0.1e12);
  EXPECT_EQ(roofline.reached, flop / 2);
  EXPECT_DOUBLE_EQ(roofline.l2.intensity, flop / 6.3e12);
  EXPECT_DOUBLE_EQ(roofline.l2.roof, flop);
  EXPECT_DOUBLE_EQ(roofline.hbm.intensity, flop / (8.0 * 8 * 1024 * 128 * 2));
  EXPECT_DOUBLE_EQ(roofline.hbm.roof, std::min(roofline.cube, roofline.hbm.intensity * 1.488e12));
  for (const Attention& a : modes()) {
    const Modelled best = plans(a, spec).front().modelled;
    const Roofline of_best = roofline_of(a, best, spec);
    EXPECT_LE(of_best.reached, std::min({of_best.cube, of_best.l2.roof, of_best.hbm.roof}));
    EXPECT_NEAR(of_best.reached / of_best.cube, best.cube_utilisation, 1e-9);
  }
}

TEST(Floor, IsTheFewestBytesAndTheTimeTheyTakeWhileL2NeverIdles) {
  ModelledSchedule few{"few", Woven{}, {}}, many{"many", Woven{}, {}};
  few.modelled.l2_bytes = 10, few.modelled.l2_share = 0.5, few.modelled.seconds = 8;
  few.modelled.extra = 1;
  many.modelled.l2_bytes = 14, many.modelled.l2_share = 1, many.modelled.seconds = 7;
  const Floor floor = floor_of({many, few});
  EXPECT_EQ(floor.l2_bytes, 10);
  EXPECT_EQ(floor.seconds, 0.5 * 8 + 1);
  // No schedule of a problem can be faster than this lower limit.
  const auto all = plans(square(2048), device::a2());
  EXPECT_LE(floor_of(all).seconds, all.front().modelled.seconds);
  EXPECT_GT(floor_of(all).seconds, 0.5 * all.front().modelled.seconds);
}

TEST(Passes, OwnScheduleNeedsTwoPassesAndTheVendorsThree) {
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
        for (const ModelledSchedule& vendor : vendor_plans(attention, spec))
          EXPECT_LE(all.front().modelled.seconds, vendor.modelled.seconds) << seq << head_dim;
      }
}

TEST(Planner, BeatsTheVendorOnLongSequences) {
  for (const bool causal : {false, true}) {
    const auto all = plans(square(8192, causal), device::a2());
    const Modelled vendor = model(square(8192, causal), same_ab(), device::a2());
    EXPECT_GT(vendor.seconds, (causal ? 1.24 : 1.18) * all.front().modelled.seconds);
    EXPECT_GE(all.front().modelled.cube_utilisation, causal ? 0.64 : 0.66);
    EXPECT_LE(all[0].modelled.seconds, all[1].modelled.seconds);
  }
}

/// The cost of a search is measured as the number of schedules, which does not depend on the
/// machine. The program `assay_bench modelled` measures the seconds.
TEST(Planner, ModelsFewSchedulesOfALongProblem) {
  for (const std::int64_t seq : {8192, 16384})
    EXPECT_LE(plans(square(seq), device::a2()).size(), 250u) << seq;
}

TEST(Planner, LeavesOutNoFasterSchedule) {
  const device::Spec spec = device::a2();
  for (const bool causal : {false, true}) {
    const Attention attention = square(2048, causal);
    const double fastest = plans(attention, spec).front().modelled.seconds;
    for (const std::int64_t rows : {1, 2, 4, 5, 6, 8})
      for (const std::int64_t columns : {1, 3, 4, 6, 7, 8})
        for (const std::int64_t group : {1, 2}) {
          if (group > rows) continue;
          const Woven woven = {.rows = rows, .columns = columns, .group = group};
          EXPECT_GE(model(attention, woven, spec).seconds, fastest * (1 - 1e-9)) << woven.to_text();
        }
  }
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

std::vector<assay::optimized::Buffer> buffers_of_plan(const Attention& a,
                                                      const ModelledSchedule& plan,
                                                      const device::Spec& spec) {
  return std::visit([&](const auto& of) { return buffers_of(a, of, spec); }, plan.schedule);
}

TEST(Planner, AdaptsInEveryModeIfACapacityIsOneByteTooSmall) {
  for (const Attention& a : modes()) {
    const device::Spec usual = device::a2();
    const ModelledSchedule best = plans(a, usual).front();
    const auto buffers = buffers_of_plan(a, best, usual);
    for (const auto& [name, member] : {std::pair{"L1", &device::Memories::l1},
                                       {"L0C", &device::Memories::l0c},
                                       {"UB", &device::Memories::ub},
                                       {"L2", &device::Memories::l2}}) {
      const std::int64_t enough = occupied(buffers, name);
      ASSERT_GT(enough, 0) << name;
      device::Spec tight = usual;
      (tight.memories.*member).value = static_cast<double>(enough);
      EXPECT_NO_THROW(buffers_of_plan(a, best, tight)) << name;
      (tight.memories.*member).value -= 1;
      EXPECT_THROW(buffers_of_plan(a, best, tight), device::DeviceFault) << name;
      for (const ModelledSchedule& plan : plans(a, tight)) {
        EXPECT_NE(plan.to_text(), best.to_text()) << name;
        EXPECT_LT(occupied(buffers_of_plan(a, plan, tight), name), enough) << name;
      }
    }
  }
}

TEST(Planner, IsNeverSlowerThanTheVendorsFamiliesInAnyMode) {
  for (const Attention& a : modes())
    for (const ModelledSchedule& vendor : vendor_plans(a, device::a2()))
      EXPECT_LE(plans(a, device::a2()).front().modelled.seconds, vendor.modelled.seconds);
}

TEST(Modes, MoveAndMultiplyWhatTheirChannelsAndElementsSay) {
  // A round has 4 x 2 tiles, processed in groups of 2 rows. It loads these tiles, as in the test
  // MovesTheBytesOfItsRound: 8 + 2 of query and key for scores and dq, 4 of query for dk, 8 of dy
  // and value for dP, and 4 of dy for dv. The matrix unit needs one step for 16 x 16 x 16 numbers,
  // or two steps if they have a depth of 8.
  const Woven woven = {.rows = 4, .columns = 2, .group = 2};
  Attention narrow, rope, wide;
  narrow.head_dim_v = 64;
  rope.head_dim_rope = 64;
  wide.element = {4};
  const double keys = 8 + 2 + 4, values = 8 + 4, exchanged = 3 * 8;
  const auto read = [&](double channels, double channels_v, double element) {
    return element * 128 * (keys * channels + values * channels_v + exchanged * 128) / 88 / 8;
  };
  EXPECT_NEAR(of_tile(woven, Pipe::cube_mte2, narrow), read(128, 64, 2), 0.01);
  // In fp32 a round has only 2 x 2 tiles, processed row by row. It loads 6 + 2 + 2 tiles of query
  // and key, 6 + 2 tiles of dy and value, and 12 tiles of P and dS.
  const Woven small = {.rows = 2, .columns = 2, .group = 1};
  EXPECT_NEAR(of_tile(small, Pipe::cube_mte2, wide), 4 * 128 * 30 * 128.0 / 88 / 4, 0.01);
  const double start = 10 * 6;
  EXPECT_NEAR(of_tile(woven, Pipe::cube, narrow), start + 3 * 512 + 2 * 256, 0.01);
  // fp32 takes four times as many steps as the 16-bit types. Half of the memory L0A contains 64
  // channels of 128 rows, and a quarter of L0B contains 32 channels.
  EXPECT_NEAR(of_tile(small, Pipe::cube, wide), (12 + 8) * 6 + 5 * 4 * 512, 0.01);
  EXPECT_NEAR(of_tile(woven, Pipe::fixpipe, narrow),
              (16 * 128 + 6 * 128 + 2 * 64) * 128 * 4 * 3 / 256.0 / 8, 0.01);
  // P and dS in 16 bits are cast and then stored. In fp32 they are stored without a cast.
  EXPECT_NEAR(of_tile(small, Pipe::mte3, wide), 2 * of_tile(woven, Pipe::mte3), 0.01);
  EXPECT_LT(of_tile(small, Pipe::vector, wide), of_tile(woven, Pipe::vector));
  rope.head_dim = 64;
  EXPECT_NEAR(of_tile(woven, Pipe::cube, rope), start + 3 * 512 + 2 * 256, 0.01);
  EXPECT_NEAR(of_tile(woven, Pipe::cube_mte2, rope), read(128, 64, 2), 0.01);
}

TEST(Buffers, BuffersEndAtTheExpectedOffsetsOfEachMemory) {
  const Woven woven = {.rows = 6, .columns = 6, .score_buffers = 10};
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
  // Four buffers of a quarter of the size need as much memory as one full buffer. P and dS in fp32
  // need twice the memory of P and dS in 16 bits.
  Attention wide = square(1024);
  wide.element = {4};
  const Woven quarters = {
      .rows = 2, .columns = 2, .group = 1, .vector_buffers = 4, .vector_tile = 2048};
  EXPECT_EQ(occupied(buffers_of(square(1024), quarters, device::a2()), "UB"), 96 * 1024);
  EXPECT_EQ(occupied(buffers_of(wide, quarters, device::a2()), "UB"), 128 * 1024);
  // L2 contains for each of 24 cores: 2 tiles of 128 KiB in each of 4 steps, 48 tiles of P and 60
  // tiles of dS. A round uses only 36 tiles of P and 36 of dS. The additional tiles are necessary
  // because each step stores new tiles before it has read the older ones.
  EXPECT_EQ(end("L2"), 24 * (8 * 128 + (48 + 60) * 32) * 1024);
}

TEST(Report, NamesTheFastestTheNextAndTheVendors) {
  const std::string text = report(square(8192), device::a2());
  for (const char* part :
       {"fastest schedule, in the event model: woven", "limited most by L2",
        "next: ", "vendor's basic", "vendor's sameAB", " times as long",
        "  UB dS: ", "roofline, with full tiles counted: ", "; L2 at ", "; HBM at "})
    EXPECT_NE(text.find(part), std::string::npos) << part;
}

TEST(Trace, HasAnEventForEveryInstructionThatTakesTime) {
  const device::Spec spec = device::a2();
  const Attention attention = square(512);
  const auto best = plans(attention, spec).front();
  const std::int64_t rounds = shown_rounds(best.modelled, 4);
  const device::Program program = std::visit(
      [&](const auto& of) { return program_of(attention, of, spec, rounds); }, best.schedule);
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

TEST(Trace, ShowsNoMoreRoundsThanThereAre) {
  const device::Spec spec = device::a2();
  EXPECT_EQ(shown_rounds(plans(square(128), spec).front().modelled, 4), 1);
  Attention many = square(8192);
  many.heads = many.heads_kv = 8;
  EXPECT_GT(plans(many, spec).front().modelled.rounds, 4);
  EXPECT_EQ(shown_rounds(plans(many, spec).front().modelled, 4), 4);
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
