#include "assay/optimized/schedules/selected.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "assay/device/scratchpad.hpp"
#include "problems.hpp"

namespace {

using namespace assay;
using namespace assay::optimized::schedules;
using device::Pipe;

/// Returns a problem of selected attention in which the list entries are distributed evenly over
/// the blocks.
Selection selection(std::int64_t heads_kv, std::int64_t group, std::int64_t queries,
                    std::int64_t keys) {
  Selection s = {.heads_kv = heads_kv, .group = group, .queries = queries, .keys = keys};
  s.count = 16, s.head_dim = 192, s.head_dim_v = 128;
  const std::int64_t blocks = keys / s.block, listed = queries * s.count;
  if (listed % blocks > 0) s.demand[listed / blocks + 1] = heads_kv * (listed % blocks);
  s.demand[listed / blocks] = heads_kv * (blocks - listed % blocks);
  return s;
}

/// Returns the shapes of published models, in the smaller size of
/// cases/nsa_selected_attention_grad/models.txt. One model has its original shape.
std::vector<Selection> published() {
  std::vector<Selection> all = {selection(1, 16, 9, 4096), selection(1, 16, 1216, 1216),
                                selection(4, 16, 8192, 8192)};
  const auto add = [&](Selection s, const auto& change) {
    change(s);
    all.push_back(s);
  };
  const auto narrow = [](Selection& s) { s.head_dim = 128; };
  add(selection(1, 4, 36, 4096), narrow);
  add(selection(1, 4, 4864, 4864), narrow);
  add(selection(1, 5, 29, 4096), [](Selection& s) {
    s.head_dim = 128, s.block = 128, s.count = 8;
    s.demand = {{7, 24}, {8, 8}};
  });
  add(selection(1, 16, 576, 2048), [](Selection& s) {
    s.head_dim = 128, s.count = 32;
    s.demand = {{576, 32}};
  });
  return all;
}

/// Returns the number of cycles in which one queue of a core is busy, if the core processes `count`
/// work items of the schedule.
template <class Schedule>
double busy(const Selection& s, const Schedule& schedule, Pipe pipe, std::int64_t count) {
  const device::Spec spec = boundless_memories();
  return run(program_of(s, schedule, spec, count), share_of(spec, 1))
      .busy[static_cast<std::size_t>(pipe)]
      .count;
}

double bytes_through_l2(const device::Program& program, Pipe pipe) {
  double bytes = 0;
  for (std::size_t id = 0; id < program.size(); ++id)
    if (const auto& task = program.task(static_cast<device::TaskId>(id)); task.pipe == pipe)
      bytes += static_cast<double>(task.l2.count);
  return bytes;
}

/// The work for a chunk (eight selected blocks), counted by hand. The cube unit (the matrix unit)
/// works for 1664 cycles. The chunk reads 320 KiB of keys and values and 64 KiB of scores and dP.
/// It adds 640 KiB to dk and dv.
TEST(ByToken, MovesThePublishedBytesOfAChunk) {
  const Selection s = selection(1, 16, 64, 4096);
  const device::Spec spec = device::a2();
  const device::Program program = program_of(s, ByToken{}, spec, 1);
  const double starts = 6, dq = 16 * 192 * 4, tokens = 16 * (192 + 128) * 2;
  const double dscore = 2 * 16 * 512 * 2;
  EXPECT_EQ(bytes_through_l2(program, Pipe::cube_mte2), 2 * (320 * 1024 + dscore) + tokens);
  EXPECT_EQ(bytes_through_l2(program, Pipe::fixpipe), 2 * (64 + 2 * 640) * 1024 + dq);
  double instructions = 0;
  for (std::size_t id = 0; id < program.size(); ++id)
    instructions += program.task(static_cast<device::TaskId>(id)).pipe == Pipe::cube;
  EXPECT_EQ(busy(s, ByToken{}, Pipe::cube, 1), 2 * 1664 + starts * instructions);
}

TEST(ByToken, IsHeldUpByItsAtomicAdditions) {
  const Selection s = selection(4, 16, 8192, 8192);
  device::Spec spec = device::a2();
  const double usual = model(s, ByToken{}, spec).seconds;
  spec.rates.atomic_traffic.value = 1;
  EXPECT_LT(model(s, ByToken{}, spec).seconds, 0.9 * usual);
}

TEST(ByToken, HasOneVectorCoreAsTheVendorOrTwo) {
  const Selection s = selection(1, 16, 64, 4096);
  const double one = busy(s, ByToken{.vector_cores = 1}, Pipe::vector_mte2, 4);
  EXPECT_NEAR(busy(s, ByToken{.vector_cores = 2}, Pipe::vector_mte2, 4), one / 2, 1e-6);
  const device::Spec spec = device::a2();
  EXPECT_EQ(
      bytes_through_l2(program_of(s, ByToken{.vector_cores = 1}, spec, 4), Pipe::vector_mte2),
      bytes_through_l2(program_of(s, ByToken{.vector_cores = 2}, spec, 4), Pipe::vector_mte2));
}

TEST(ByBlock, AddsDqAloneToGlobalMemory) {
  // A tile of four tokens has 64 rows. The scores and dP of a tile need 16 KiB each, and dq of 192
  // channels is added twice. dk and dv are written once for each block, in 16 bits.
  const Selection s = selection(1, 16, 64, 4096);
  const ByBlock by = {.tokens = 4};
  const auto drained = [&](std::int64_t tiles) {
    return bytes_through_l2(program_of(s, by, device::a2(), tiles), Pipe::fixpipe);
  };
  // A block that 16 tokens list has four tiles of four tokens.
  const double of_tile = 2 * 16 * 1024 + 2 * 64 * 192 * 4, of_block = 64 * (192 + 128) * 2;
  EXPECT_EQ(drained(4), 4 * of_tile + of_block);
  EXPECT_EQ(drained(8), 8 * of_tile + 2 * of_block);
  // If several cores share a block, each core adds its part of dk and dv.
  const ByBlock shared = {.tokens = 4, .parts = 2};
  EXPECT_EQ(bytes_through_l2(program_of(s, shared, device::a2(), 2), Pipe::fixpipe),
            2 * of_tile + 2 * 2 * of_block);
}

TEST(ByBlock, CutsTheKeysOfABlock) {
  Selection s = selection(1, 4, 64, 4096);
  s.head_dim = 128, s.block = 128, s.count = 8, s.demand = {{16, 32}};
  // dk and dv of 128 keys fill the memory L0C completely.
  EXPECT_THROW(model(s, ByBlock{.tokens = 4}, device::a2()), device::DeviceFault);
  EXPECT_NO_THROW(model(s, ByBlock{.tokens = 4, .cuts = 2}, device::a2()));
  const auto all = plans(s, device::a2());
  ASSERT_TRUE(std::holds_alternative<ByBlock>(all.front().schedule));
  EXPECT_EQ(std::get<ByBlock>(all.front().schedule).cuts, 2);
}

std::vector<assay::optimized::Buffer> buffers_of_plan(const Selection& s, const SelectedPlan& plan,
                                                      const device::Spec& spec) {
  return std::visit([&](const auto& of) { return buffers_of(s, of, spec); }, plan.schedule);
}

TEST(SelectedPlanner, IsNeverSlowerThanTheVendorOnPublishedShapes) {
  const device::Spec spec = device::a2();
  for (const Selection& s : published()) {
    const auto all = plans(s, spec), vendors = vendor_plans(s, spec);
    ASSERT_EQ(vendors.size(), 1U);
    EXPECT_GT(vendors.front().modelled.seconds, 1.5 * all.front().modelled.seconds) << s.queries;
    EXPECT_LE(all[0].modelled.seconds, all[1].modelled.seconds);
    EXPECT_LE(all.size(), 250U);
  }
}

TEST(SelectedPlanner, AdaptsIfACapacityIsOneByteTooSmall) {
  const device::Spec usual = device::a2();
  for (const Selection& s : published()) {
    const SelectedPlan best = plans(s, usual).front();
    for (const auto& [name, member] : {std::pair{"L1", &device::Memories::l1},
                                       {"L0C", &device::Memories::l0c},
                                       {"UB", &device::Memories::ub},
                                       {"L2", &device::Memories::l2}}) {
      const std::int64_t enough = occupied(buffers_of_plan(s, best, usual), name);
      ASSERT_GT(enough, 0) << name;
      device::Spec tight = usual;
      (tight.memories.*member).value = static_cast<double>(enough);
      EXPECT_NO_THROW(buffers_of_plan(s, best, tight)) << name;
      (tight.memories.*member).value -= 1;
      for (const SelectedPlan& plan : plans(s, tight))
        EXPECT_LT(occupied(buffers_of_plan(s, plan, tight), name), enough) << name;
    }
  }
}

Selection forward_of(Selection selection) {
  selection.direction = Direction::forward;
  return selection;
}

TEST(ByList, MovesTheBytesOfATokenCountedByHand) {
  // A token has 16 query rows. Its tile has 16 blocks of 64 keys. The core reads the query, 16
  // blocks of keys and values, and P. Scores and the product with value leave L0C in fp32. The
  // vector cores store P in 16 bits, then the output and 64 bytes of statistics per row.
  const Selection s = selection(1, 16, 64, 4096);
  const device::Program one = program_of(s, ByList{.blocks = 16}, device::a2(), 1);
  const double query = 16 * 192 * 2, keys = 1024 * (192 + 128) * 2, scores = 16 * 1024;
  EXPECT_EQ(bytes_through_l2(one, Pipe::cube_mte2), query + keys + scores * 2);
  EXPECT_EQ(bytes_through_l2(one, Pipe::fixpipe), scores * 4 + 16 * 128 * 4);
  EXPECT_EQ(bytes_through_l2(one, Pipe::vector_mte2), scores * 4 + 16 * 128 * 4);
  EXPECT_EQ(bytes_through_l2(one, Pipe::mte3), scores * 2 + 16 * (128 * 2 + 64));
  // Two tiles of eight blocks each read the query twice and store half of the output each.
  const device::Program two = program_of(s, ByList{.blocks = 8}, device::a2(), 2);
  EXPECT_EQ(bytes_through_l2(two, Pipe::cube_mte2), 2 * query + keys + scores * 2);
  EXPECT_EQ(bytes_through_l2(two, Pipe::mte3), bytes_through_l2(one, Pipe::mte3));
}

TEST(SelectedForward, ReadsEveryInputAndWritesEveryOutputAtLeastOnce) {
  const device::Spec spec = device::a2();
  for (const Selection& gradient : published()) {
    const Selection s = forward_of(gradient);
    const auto all = plans(s, spec);
    ASSERT_FALSE(all.empty());
    EXPECT_LE(all.size(), 250U);
    EXPECT_LE(all[0].modelled.seconds, all[1].modelled.seconds);
    EXPECT_TRUE(vendor_plans(s, spec).empty());
    const std::int64_t queries = s.queries * s.heads_kv * s.group;
    // Every listed key is read. A list has more keys than a sequence that is shorter than it.
    const std::int64_t listed = std::min(s.keys, s.count * s.block) * s.heads_kv;
    const std::int64_t tensors = queries * (s.head_dim + s.head_dim_v) + listed * 2 * s.head_dim_v;
    for (const SelectedPlan& plan : all)
      EXPECT_GE(24 * plan.modelled.l2_bytes, static_cast<double>(2 * tensors)) << plan.to_text();
  }
}

TEST(SelectedForward, TakesLessTimeThanItsGradientTokenByToken) {
  const device::Spec spec = device::a2();
  for (const Selection& s : published()) {
    const double forward = plans(forward_of(s), spec).front().modelled.seconds;
    for (const SelectedPlan& gradient : plans(s, spec))
      if (std::holds_alternative<ByToken>(gradient.schedule)) {
        EXPECT_LT(forward, gradient.modelled.seconds) << s.queries << gradient.to_text();
      }
  }
}

TEST(SelectedForward, TakesLongerForMoreTokens) {
  double before = 0;
  for (const std::int64_t tokens : {1024, 2048, 8192, 16384}) {
    const double seconds =
        plans(forward_of(selection(4, 16, tokens, tokens)), device::a2()).front().modelled.seconds;
    EXPECT_GT(seconds, before) << tokens;
    before = seconds;
  }
}

TEST(SelectedForward, AdaptsIfACapacityIsOneByteTooSmall) {
  const device::Spec usual = device::a2();
  for (const Selection& gradient : published()) {
    const Selection s = forward_of(gradient);
    const SelectedPlan best = plans(s, usual).front();
    for (const auto& [name, member] : {std::pair{"L1", &device::Memories::l1},
                                       {"L0C", &device::Memories::l0c},
                                       {"UB", &device::Memories::ub},
                                       {"L2", &device::Memories::l2}}) {
      const std::int64_t enough = occupied(buffers_of_plan(s, best, usual), name);
      ASSERT_GT(enough, 0) << name;
      EXPECT_LE(static_cast<double>(enough), (usual.memories.*member).value) << name;
      device::Spec tight = usual;
      (tight.memories.*member).value = static_cast<double>(enough - 1);
      EXPECT_THROW(buffers_of_plan(s, best, tight), device::DeviceFault) << name;
      for (const SelectedPlan& plan : plans(s, tight))
        EXPECT_LT(occupied(buffers_of_plan(s, plan, tight), name), enough) << name;
    }
  }
}

TEST(SelectedReport, SaysThatNoForwardOfTheVendorIsKnown) {
  const Selection s = forward_of(selection(4, 16, 8192, 8192));
  const std::string text = report(s, device::a2());
  // Query and output have 8192 tokens of 64 heads, key and value of 4 heads; each key head has a
  // list of 16 entries per token.
  const std::int64_t read = 8192 * ((64 * 192 + 4 * (192 + 128)) * 2 + 4 * 16 * 4);
  const std::int64_t written = 8192 * 64 * (128 * 2 + 64);
  for (const std::string& part :
       {"global memory: at least " + std::to_string(read) + " B read, " + std::to_string(written) +
            " B written\n",
        std::string("fastest schedule, in the event model: by "), std::string("next: "),
        std::string(" % of the cube"),
        std::string("no schedule of the vendor is known\nOn a2 the fastest of ")})
    EXPECT_NE(text.find(part), std::string::npos) << part;
  EXPECT_NE(trace(s, device::a2()).find("\"ph\": \"X\""), std::string::npos);
}

TEST(SelectedReport, NamesTheFastestTheNextAndTheVendors) {
  const Selection s = selection(4, 16, 8192, 8192);
  const std::string text = report(s, device::a2());
  for (const char* part :
       {"fastest schedule, in the event model: by block", "limited most by ",
        "next: ", "vendor's basic", " times as long", "  L0C dk of a block: ",
        "roofline, with full tiles counted: ", " % of the cube", "; L2 at ", "each of the "})
    EXPECT_NE(text.find(part), std::string::npos) << part;
  const std::string json = trace(s, device::a2());
  EXPECT_NE(json.find("\"traceEvents\""), std::string::npos);
  EXPECT_NE(json.find("\"ph\": \"X\""), std::string::npos);
}

}  // namespace
