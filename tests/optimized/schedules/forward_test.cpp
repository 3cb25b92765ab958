#include <gtest/gtest.h>

#include <algorithm>

#include "assay/device/scratchpad.hpp"
#include "assay/optimized/schedules/planner.hpp"
#include "problems.hpp"

namespace {

using namespace assay;
using namespace assay::optimized::schedules;
using device::Pipe;

Attention gradient_of(Attention attention) {
  attention.direction = Direction::gradient;
  return attention;
}

/// Returns a forward problem with eight heads in layout BNSD.
Attention forward(std::int64_t seq, bool causal = false) {
  Attention attention = square(seq, causal);
  attention.direction = Direction::forward;
  return attention;
}

/// Returns variants of a forward problem, also of a short one and of large or shared heads.
std::vector<Attention> modes() {
  const Attention dense = forward(512);
  std::vector<Attention> all = variants_of(dense);
  all.push_back(forward(60));
  const auto add = [&](const auto& change) { change(all.emplace_back(dense)); };
  add([](Attention& a) { a.head_dim = 768; });
  add([](Attention& a) { a.heads_kv = 2; });
  add([](Attention& a) {
    a.features.score_bits = 8, a.features.of_scores = {&device::VectorCosts::select};
    a.features.held = {{"mask", 8}}, a.features.tensors = {512 * 512};
  });
  return all;
}

std::int64_t bytes_through_l2(const device::Program& program, Pipe pipe) {
  std::int64_t bytes = 0;
  for (std::size_t id = 0; id < program.size(); ++id)
    if (const auto& task = program.task(static_cast<device::TaskId>(id)); task.pipe == pipe)
      bytes += task.l2.count;
  return bytes;
}

const Forward& forward_of(const ModelledSchedule& plan) { return std::get<Forward>(plan.schedule); }

TEST(ForwardTraffic, IsTheOneOfATileCountedByHand) {
  // Each core has one row block with one tile of 128 x 1024 scores. It reads the query once, and
  // key, value and P of eight blocks of 128 keys. Scores (fp32) and the product with value leave
  // L0C and are read by the vector cores. The vector cores store P in 16 bits, then the output and
  // 64 bytes of statistics per row.
  const Attention attention = {.heads = 24, .heads_kv = 24, .seq_q = 128, .seq_kv = 1024};
  const device::Program one = program_of(attention, Forward{}, device::a2(), 1);
  const std::int64_t operand = 128 * 128 * 2, scores = 128 * 1024 * 4, sums = 128 * 128 * 4;
  EXPECT_EQ(bytes_through_l2(one, Pipe::cube_mte2), operand + 8 * 3 * operand);
  EXPECT_EQ(bytes_through_l2(one, Pipe::fixpipe), scores + sums);
  EXPECT_EQ(bytes_through_l2(one, Pipe::vector_mte2), scores + sums);
  EXPECT_EQ(bytes_through_l2(one, Pipe::mte3), scores / 2 + operand + 128 * 64);
}

TEST(ForwardTraffic, CountsTheChannelsAndTypesOfItsOperands) {
  // Rope adds 64 channels to query and key, and narrow values have 64 channels. fp32 numbers have
  // four bytes.
  Attention a = {.heads = 24, .heads_kv = 24, .seq_q = 128, .seq_kv = 1024};
  a.head_dim_rope = 64, a.head_dim_v = 64;
  const device::Program one = program_of(a, Forward{}, device::a2(), 1);
  EXPECT_EQ(bytes_through_l2(one, Pipe::cube_mte2),
            (128 + 1024) * 192 * 2 + 1024 * 64 * 2 + 128 * 1024 * 2);
  EXPECT_EQ(bytes_through_l2(one, Pipe::mte3), 128 * 1024 * 2 + 128 * (64 * 2 + 64));
  a.element = {4};
  const device::Program wide = program_of(a, Forward{}, device::a2(), 1);
  EXPECT_EQ(bytes_through_l2(wide, Pipe::cube_mte2), 2 * bytes_through_l2(one, Pipe::cube_mte2));
  EXPECT_EQ(bytes_through_l2(wide, Pipe::mte3), 128 * 1024 * 4 + 128 * (64 * 4 + 64));
}

TEST(ForwardTraffic, ExchangesOnlyTheRowsThatThereAre) {
  // Three queries fill three of 16 rows of a tile.
  const Attention a = {
      .heads = 24, .heads_kv = 24, .seq_q = 3, .seq_kv = 1024, .direction = Direction::forward};
  const device::Program one = program_of(a, Forward{.rows = 16}, device::a2(), 1);
  EXPECT_EQ(bytes_through_l2(one, Pipe::cube_mte2), 3 * 256 + 2 * 1024 * 256 + 3 * 1024 * 2);
  EXPECT_EQ(bytes_through_l2(one, Pipe::fixpipe), 3 * (1024 + 128) * 4);
  const double ours = plans(a, device::a2()).front().modelled.seconds;
  EXPECT_LT(vendor_plans(a, device::a2()).front().modelled.seconds, 1.5 * ours);
}

TEST(ForwardTraffic, LoadsKeysAndValuesOnceForAllRowTilesOfABlock) {
  // Two row tiles of 128 x 1024 scores: two tiles of query, eight of key and of value, 16 of P.
  const Attention attention = {.heads = 24, .heads_kv = 24, .seq_q = 256, .seq_kv = 1024};
  const device::Program one =
      program_of(attention, Forward{.group = 2, .vector_tile = 4096}, device::a2(), 1);
  EXPECT_EQ(bytes_through_l2(one, Pipe::cube_mte2), (2 + 8 + 8 + 16) * 32 * 1024);
  EXPECT_EQ(bytes_through_l2(one, Pipe::fixpipe), 2 * (128 * 1024 + 128 * 128) * 4);
  EXPECT_EQ(bytes_through_l2(one, Pipe::mte3), 2 * (128 * 1024 * 2 + 40 * 1024));
  // Each core gets one row block of two tiles, or two row blocks of one tile.
  EXPECT_EQ(model(attention, Forward{.group = 2, .vector_tile = 4096}, device::a2()).rounds, 1);
  EXPECT_EQ(model(attention, Forward{.vector_tile = 4096}, device::a2()).rounds, 2);
}

TEST(ForwardTraffic, StoresTheOutputOfARowBlockOnce) {
  // A row block of 4 tiles stores a quarter of its output, 32 KiB + 8 KiB, with each tile.
  const Attention attention = {.heads = 24, .heads_kv = 24, .seq_q = 128, .seq_kv = 4096};
  const device::Program four = program_of(attention, Forward{}, device::a2(), 4);
  EXPECT_EQ(bytes_through_l2(four, Pipe::mte3), 4 * 128 * 1024 * 2 + 40 * 1024);
}

TEST(ForwardTraffic, ReadsEveryInputAndWritesEveryOutputAtLeastOnce) {
  const device::Spec spec = device::a2();
  for (const Attention& a : modes()) {
    std::int64_t queries = 0, keys = 0;
    for (const Sequences& s : a.sequences())
      queries += a.heads * s.count * s.seq_q, keys += a.heads_kv * s.count * s.seq_kv;
    const std::int64_t inputs = queries * a.channels() + keys * (a.channels() + a.channels_v());
    const std::int64_t tensors = (inputs + queries * a.channels_v()) * a.element.count;
    for (const ModelledSchedule& plan : plans(a, spec))
      EXPECT_GE(24 * plan.modelled.l2_bytes, static_cast<double>(tensors)) << plan.to_text();
    // The roofline counts the same bytes once, and 64 bytes of statistics per row.
    const Modelled best = plans(a, spec).front().modelled;
    const double flop =
        2.0 * static_cast<double>(a.blocks() * 128 * 128 * (a.channels() + a.channels_v()));
    EXPECT_DOUBLE_EQ(roofline_of(a, best, spec).hbm.intensity,
                     flop / static_cast<double>(tensors + 64 * queries + a.features.tensors.count));
  }
}

std::int64_t occupied(const std::vector<assay::optimized::Buffer>& all, const std::string& memory) {
  std::int64_t last = 0;
  for (const auto& buffer : all)
    if (buffer.memory == memory) last = std::max(last, (buffer.offset + buffer.size).count);
  return last;
}

TEST(ForwardBuffers, FitEveryMemoryAndFaultIfItIsOneByteTooSmall) {
  const device::Spec usual = device::a2();
  for (const Attention& a : modes()) {
    const std::vector<ModelledSchedule> all = plans(a, usual);
    ASSERT_FALSE(all.empty()) << a.head_dim;
    for (const auto& [name, member] : {std::pair{"L1", &device::Memories::l1},
                                       {"L0C", &device::Memories::l0c},
                                       {"UB", &device::Memories::ub},
                                       {"L2", &device::Memories::l2}}) {
      for (const ModelledSchedule& plan : all)
        EXPECT_LE(static_cast<double>(occupied(buffers_of(a, forward_of(plan), usual), name)),
                  (usual.memories.*member).value);
      const Forward& best = forward_of(all.front());
      const std::int64_t enough = occupied(buffers_of(a, best, usual), name);
      ASSERT_GT(enough, 0) << name;
      device::Spec tight = usual;
      (tight.memories.*member).value = static_cast<double>(enough);
      EXPECT_NO_THROW(model(a, best, tight)) << name;
      (tight.memories.*member).value -= 1;
      EXPECT_THROW(model(a, best, tight), device::DeviceFault) << name;
      for (const ModelledSchedule& plan : plans(a, tight))
        EXPECT_LT(occupied(buffers_of(a, forward_of(plan), tight), name), enough) << name;
    }
  }
}

TEST(ForwardBuffers, VendorsTilesEndAtTheOffsetsCountedByHand) {
  const auto all = buffers_of(forward(4096), Forward{}, device::a2());
  // L1: two buffers each for tiles of query, key, value and P. UB: scores, products and sums of 64
  // rows, and 64 bytes per row. L2: three tiles of scores and P, and three products, on 24 cores.
  EXPECT_EQ(occupied(all, "L1"), 4 * 2 * 32 * 1024);
  EXPECT_EQ(occupied(all, "L0C"), 128 * 1024);
  EXPECT_EQ(occupied(all, "UB"), (64 + 64 + 32 + 4) * 1024);
  EXPECT_EQ(occupied(all, "L2"), 24 * 3 * (512 + 256 + 64) * 1024);
}

TEST(ForwardPlanner, TakesLessTimeThanItsGradient) {
  const device::Spec spec = device::a2();
  for (const Attention& a : modes()) {
    const auto gradients = plans(gradient_of(a), spec);
    if (gradients.empty()) continue;  // the rows of 768 channels fit only the forward
    EXPECT_LT(plans(a, spec).front().modelled.seconds, gradients.front().modelled.seconds)
        << a.head_dim;
  }
  EXPECT_FALSE(plans(gradient_of(forward(512, true)), spec).empty());
}

TEST(ForwardPlanner, TakesLongerForLongerSequences) {
  for (const bool causal : {false, true}) {
    double before = 0;
    for (const std::int64_t seq : {128, 512, 1024, 2048, 4096, 8192, 16384}) {
      const double seconds = plans(forward(seq, causal), device::a2()).front().modelled.seconds;
      EXPECT_GT(seconds, before) << seq;
      before = seconds;
    }
  }
  // Four times as many scores take nearly four times as long.
  const auto seconds = [](std::int64_t seq) {
    return plans(forward(seq), device::a2()).front().modelled.seconds;
  };
  EXPECT_NEAR(seconds(16384) / seconds(8192), 4, 0.2);
}

TEST(ForwardPlanner, IsNeverSlowerThanTheVendor) {
  for (const Attention& a : modes()) {
    const auto all = plans(a, device::a2());
    EXPECT_LE(all.size(), 250U);
    for (const ModelledSchedule& vendor : vendor_plans(a, device::a2()))
      EXPECT_LE(all.front().modelled.seconds, vendor.modelled.seconds);
  }
}

TEST(ForwardPlanner, BeatsTheVendorOnLongSequences) {
  for (const bool causal : {false, true}) {
    const Attention a = forward(8192, causal);
    const double ours = plans(a, device::a2()).front().modelled.seconds;
    EXPECT_GT(vendor_plans(a, device::a2()).front().modelled.seconds, 1.08 * ours);
  }
}

TEST(ForwardPlanner, AMaskSavesTimeAndAMaskTensorCostsTime) {
  const auto seconds = [](const Attention& a) {
    return plans(a, device::a2()).front().modelled.seconds;
  };
  EXPECT_LT(seconds(forward(8192, true)), 0.6 * seconds(forward(8192)));
  EXPECT_GT(seconds(modes().back()), seconds(forward(512)));
}

TEST(ForwardPlanner, SharesTheWorkOfUnequalSequences) {
  // One sequence of 4096 tokens and 24 of 128 tokens, with one head. The first has 32 row blocks
  // with 32 blocks of scores each. A core that gets two of them needs the time of 64 blocks; the
  // work of all cores together is 32 * 32 + 24 blocks, 44 on each.
  Attention mixed = {.seq_q = 4096, .seq_kv = 4096};
  mixed.listed = {{.seq_q = 4096, .seq_kv = 4096}, {.count = 24, .seq_q = 128, .seq_kv = 128}};
  EXPECT_EQ(model(mixed, Forward{.columns = 128}, device::a2()).rounds, 44);
  // Four tokens of query and 4096 keys: the row block cannot be shared.
  mixed.listed = {{.seq_q = 4, .seq_kv = 4096}, {.count = 24, .seq_q = 128, .seq_kv = 128}};
  EXPECT_EQ(model(mixed, Forward{.columns = 128}, device::a2()).rounds, 32);
}

/// The published profile of docs/device.md: 24 cores at 1650 MHz. The page and the program
/// `assay_bench validation` print these ratios of gradient and forward, both of the vendor.
TEST(ForwardPlanner, HasTheDocumentedRatioToTheGradient) {
  device::Spec device = device::a2();
  const double pace = 1.65e9 / device.cores.clock.value;
  device.cores.clock.value *= pace, device.rates.l2_bandwidth.value *= pace;
  const auto ratio = [&](bool causal, bool packed) {
    const Attention forward = {.heads = 16,
                               .heads_kv = 8,
                               .seq_q = 4096,
                               .seq_kv = 4096,
                               .causal = causal,
                               .contiguous = !packed,
                               .direction = Direction::forward};
    const auto gradients = vendor_plans(gradient_of(forward), device);
    return gradients[packed ? 0 : 1].modelled.seconds /
           vendor_plans(forward, device).front().modelled.seconds;
  };
  EXPECT_NEAR(ratio(true, true), 2.35, 0.005);
  EXPECT_NEAR(ratio(true, false), 2.45, 0.005);
  EXPECT_NEAR(ratio(false, false), 2.15, 0.005);
  EXPECT_NEAR(ratio(false, true), 2.24, 0.005);
}

TEST(ForwardReport, NamesTheFastestTheNextAndTheVendors) {
  const std::string text = report(forward(8192), device::a2());
  // Eight heads of 8192 x 128 numbers of query, key, value and output, and the statistics.
  for (const char* part :
       {"global memory: at least 50331648 B read, 20971520 B written",
        "fastest schedule, in the event model: row blocks", "limited most by L2",
        "next: ", "vendor's 128 x 1024", " times as long", "  UB sums: ", "; L2 at ", "; HBM at "})
    EXPECT_NE(text.find(part), std::string::npos) << part;
  EXPECT_EQ(report(gradient_of(forward(512)), device::a2()).find("at least 3"), std::string::npos);
  EXPECT_NE(trace(forward(512), device::a2()).find("\"ph\": \"X\""), std::string::npos);
}

}  // namespace
