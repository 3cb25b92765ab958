#include "assay/optimized/schedules/compress.hpp"

#include <gtest/gtest.h>

#include "assay/device/scratchpad.hpp"

namespace {

using namespace assay;
using namespace assay::optimized::schedules;
using device::Pipe;

/// Returns the shapes of published models, both in the original size and in the smaller size of
/// cases/nsa_compress_grad/models.txt. Returns also a shape in which eight windows contain each
/// token.
std::vector<Compression> published() {
  const auto of = [](std::int64_t heads, std::int64_t head_dim, std::vector<std::int64_t> lengths) {
    return Compression{.heads = heads, .head_dim = head_dim, .lengths = std::move(lengths)};
  };
  std::vector<Compression> all = {
      of(4, 192, {1953}), of(4, 128, {2929}),  of(4, 128, {183, 1281, 1464}),  of(2, 128, {5859}),
      of(4, 192, {8192}), of(4, 192, {32768}), of(4, 128, {1024, 7168, 8192}), of(2, 128, {32768})};
  all.push_back(of(4, 128, {16384}));
  all.back().size = 128;
  return all;
}

struct Bytes {
  double read = 0, written = 0, missing = 0;
};

Bytes moved(const device::Program& program) {
  Bytes bytes;
  for (std::size_t id = 0; id < program.size(); ++id) {
    const auto& task = program.task(static_cast<device::TaskId>(id));
    const auto l2 = static_cast<double>(task.l2.count), hbm = static_cast<double>(task.hbm.count);
    if (task.pipe == Pipe::vector_mte2) bytes.read += l2, bytes.missing += hbm;
    if (task.pipe == Pipe::mte3) bytes.written += l2;
  }
  return bytes;
}

TEST(ByWindow, ReadsAWindowAndAddsItToSums) {
  // Each of two vector cores reads 32 tokens and one window, with 192 channels in 16 bits. It adds
  // products to 32 sums per channel in fp32, which it reads and writes. Half of the bytes are read
  // for the first time, so they miss in L2.
  const Compression c = {.heads = 4, .head_dim = 192, .lengths = {8192}};
  const Bytes one = moved(program_of(c, ByWindow{}, device::a2(), 1));
  EXPECT_EQ(one.read, 2 * 33 * 192 * 2);
  EXPECT_EQ(one.written, 2 * 2 * 32 * 192 * 4);
  EXPECT_EQ(one.missing, one.read / 2);
}

TEST(ByTile, ReadsATileWithItsWindowsAndStoresItOnce) {
  // A tile of 48 tokens overlaps with at most (48 + 30) / 16 + 1 = 5 windows.
  const Compression c = {.heads = 4, .head_dim = 192, .lengths = {8192}};
  const Bytes one = moved(program_of(c, {.tokens = 48, .channels = 96}, device::a2(), 1));
  EXPECT_EQ(one.read, 2 * (48 + 5) * 96 * 2);
  EXPECT_EQ(one.written, 2 * 48 * 96 * 2);
  EXPECT_EQ(one.missing, one.read);
}

TEST(ByTile, OverlapsMovesAndComputeWithTwoBuffersOfEach) {
  const Compression c = {.heads = 4, .head_dim = 192, .lengths = {32768}};
  const device::Spec spec = device::a2();
  EXPECT_LT(model(c, ByTile{32, 192, 2}, spec).seconds,
            0.8 * model(c, ByTile{32, 192, 1}, spec).seconds);
}

TEST(ByTile, MultipliesEveryPairOfTokenAndWindow) {
  // If arithmetic limits the speed, twice as many windows per token take nearly twice the time.
  Compression c = {.heads = 4, .head_dim = 128, .lengths = {32768}};
  const auto busy = [&] {
    const Modelled m = model(c, ByTile{64, 128, 2}, device::a2());
    return m.share(Pipe::vector) * m.seconds;
  };
  const double two = busy();
  c.size = 64;
  EXPECT_NEAR(busy() / two, 2, 0.35);
}

TEST(ByWindow, CutsWindowsThatDoNotFit) {
  const Compression c = {.heads = 4, .head_dim = 128, .size = 128, .lengths = {16384}};
  EXPECT_THROW(model(c, ByWindow{}, device::a2()), device::DeviceFault);
  const auto vendors = vendor_plans(c, device::a2());
  ASSERT_EQ(vendors.size(), 1U);
  EXPECT_GT(std::get<ByWindow>(vendors.front().schedule).pieces, 1);
}

std::int64_t occupied(const std::vector<assay::optimized::Buffer>& all) {
  return (all.back().offset + all.back().size).count;
}

std::vector<assay::optimized::Buffer> buffers_of_plan(const Compression& c,
                                                      const CompressPlan& plan,
                                                      const device::Spec& spec) {
  return std::visit([&](const auto& of) { return buffers_of(c, of, spec); }, plan.schedule);
}

TEST(CompressPlanner, IsNeverSlowerThanTheVendorOnPublishedShapes) {
  const device::Spec spec = device::a2();
  for (const Compression& c : published()) {
    const auto all = plans(c, spec), vendors = vendor_plans(c, spec);
    ASSERT_EQ(vendors.size(), 1U);
    EXPECT_GT(vendors.front().modelled.seconds, 1.1 * all.front().modelled.seconds) << c.tokens();
    EXPECT_LE(all[0].modelled.seconds, all[1].modelled.seconds);
    EXPECT_LE(all.size(), 250U);
  }
}

TEST(CompressPlanner, AdaptsIfTheUnifiedBufferIsOneByteTooSmall) {
  const device::Spec usual = device::a2();
  for (const Compression& c : published()) {
    const CompressPlan best = plans(c, usual).front();
    const std::int64_t enough = occupied(buffers_of_plan(c, best, usual));
    device::Spec tight = usual;
    tight.memories.ub.value = static_cast<double>(enough);
    EXPECT_NO_THROW(buffers_of_plan(c, best, tight));
    tight.memories.ub.value -= 1;
    EXPECT_THROW(buffers_of_plan(c, best, tight), device::DeviceFault);
    for (const CompressPlan& plan : plans(c, tight))
      EXPECT_LT(occupied(buffers_of_plan(c, plan, tight)), enough);
  }
}

Compression forward_of(Compression compression) {
  compression.direction = Direction::forward;
  return compression;
}

TEST(ByOutput, ReadsTheTokensOfItsWindowsAndStoresEachSumOnce) {
  // Each of two vector cores reads the tokens of three windows, 32 + 2 * 16, and stores three sums,
  // with 96 of 192 channels in 16 bits. The first 16 tokens are in L2, from the previous tile.
  const Compression c = {.heads = 4, .head_dim = 192, .lengths = {8192}};
  const Bytes one = moved(program_of(c, ByOutput{.windows = 3, .channels = 96}, device::a2(), 1));
  EXPECT_EQ(one.read, 2 * 64 * 96 * 2);
  EXPECT_EQ(one.written, 2 * 3 * 96 * 2);
  EXPECT_EQ(one.missing, 2 * 48 * 96 * 2);
}

TEST(ByOutput, TakesTheCyclesOfItsInstructions) {
  const Compression c = {.heads = 4, .head_dim = 192, .lengths = {8192}};
  const device::Spec spec = device::a2();
  const auto& v = spec.vector;
  const auto cycles = [&](const device::VectorCost& cost, std::int64_t numbers) {
    return vector(spec, cost, {numbers * 4}).count;
  };
  const double expected = cycles(v.cast_to_fp32, 64 * 96) + cycles(v.cast_to_16bit, 3 * 96) +
                          3 * (cycles(v.mul, 32 * 96) + cycles(v.add, 31 * 96));
  const auto trace =
      run(program_of(c, ByOutput{.windows = 3, .channels = 96}, spec, 1), share_of(spec, 1));
  EXPECT_DOUBLE_EQ(trace.busy[static_cast<std::size_t>(Pipe::vector)].count, expected);
}

TEST(CompressForward, ReadsEveryTokenAndWritesEveryWindowAtLeastOnceInLessTimeThanItsGradient) {
  const device::Spec spec = device::a2();
  for (const Compression& c : published()) {
    const auto all = plans(forward_of(c), spec);
    ASSERT_FALSE(all.empty());
    EXPECT_LE(all.size(), 250U);
    EXPECT_TRUE(vendor_plans(forward_of(c), spec).empty());
    const std::int64_t tensors = (c.tokens() + c.windows()) * c.heads * c.head_dim * 2;
    for (const CompressPlan& plan : all) {
      const auto& by = std::get<ByOutput>(plan.schedule);
      const double of_busiest = plan.modelled.l2_bytes;  // of two vector cores
      EXPECT_GE(24 * of_busiest, static_cast<double>(tensors)) << by.to_text();
    }
    EXPECT_LT(all.front().modelled.seconds, plans(c, spec).front().modelled.seconds);
  }
}

TEST(CompressForward, TakesLongerForMoreTokens) {
  double before = 0;
  for (const std::int64_t tokens : {1024, 8192, 32768, 131072}) {
    const Compression c = {.heads = 4, .head_dim = 192, .lengths = {tokens}};
    const double seconds = plans(forward_of(c), device::a2()).front().modelled.seconds;
    EXPECT_GT(seconds, before) << tokens;
    before = seconds;
  }
}

TEST(CompressForward, AdaptsIfTheUnifiedBufferIsOneByteTooSmall) {
  const device::Spec usual = device::a2();
  for (const Compression& gradient : published()) {
    const Compression c = forward_of(gradient);
    const std::vector<CompressPlan> all = plans(c, usual);
    for (const CompressPlan& plan : all)
      EXPECT_LE(static_cast<double>(occupied(buffers_of_plan(c, plan, usual))),
                usual.memories.ub.value);
    const std::int64_t enough = occupied(buffers_of_plan(c, all.front(), usual));
    device::Spec tight = usual;
    tight.memories.ub.value = static_cast<double>(enough - 1);
    EXPECT_THROW(buffers_of_plan(c, all.front(), tight), device::DeviceFault);
    for (const CompressPlan& plan : plans(c, tight))
      EXPECT_LT(occupied(buffers_of_plan(c, plan, tight)), enough);
  }
}

TEST(CompressReport, SaysThatNoForwardOfTheVendorIsKnown) {
  const Compression c = {.heads = 4, .head_dim = 192, .lengths = {8192}};
  const std::string text = report(forward_of(c), device::a2());
  // 8192 tokens and 511 windows of 4 heads with 192 channels, and 32 x 4 weights.
  for (const char* part :
       {"global memory: at least 12583168 B read, 784896 B written",
        "fastest schedule, in the event model: by output", "next: ", "  UB products of a window: ",
        "no schedule of the vendor is known\nOn a2 the fastest of "})
    EXPECT_NE(text.find(part), std::string::npos) << part;
  EXPECT_NE(trace(forward_of(c), device::a2()).find("\"ph\": \"X\""), std::string::npos);
}

TEST(CompressReport, NamesTheFastestTheNextAndTheVendors) {
  const Compression c = {.heads = 4, .head_dim = 192, .lengths = {8192}};
  const std::string text = report(c, device::a2());
  for (const char* part :
       {"fastest schedule, in the event model: by tile", "limited most by vector",
        "next: ", "vendor's by window", " times as long", "  UB input: ",
        "roofline, with full tiles counted: ", " % of the vector cores", "; HBM at "})
    EXPECT_NE(text.find(part), std::string::npos) << part;
  EXPECT_NE(trace(c, device::a2()).find("\"ph\": \"X\""), std::string::npos);
}

}  // namespace
