#include "assay/optimized/nsa_compress_grad/tiling.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "../implementation_checks.hpp"
#include "assay/device/scratchpad.hpp"
#include "assay/optimized/nsa_compress_grad.hpp"
#include "trial.hpp"

namespace {

using namespace assay;
using namespace optimized::compress;
using Problem = spec::NsaCompressGrad::Problem;
using test::compress::problem_of;

std::int64_t up_to(std::int64_t last) { return *rc::gen::inRange<std::int64_t>(0, last + 1); }

/// Makes a problem with up to six sequences. Some may be empty or short, but at least one is not
/// empty.
Problem random_problem(std::int64_t longest) {
  std::vector<std::int64_t> lengths = {1 + up_to(longest - 1)};
  for (std::int64_t left = up_to(5); left > 0; --left)
    lengths.insert(lengths.begin() + up_to(static_cast<std::int64_t>(lengths.size())),
                   up_to(longest));
  const std::int64_t stride = 16 * (1 + up_to(10)), size = stride + 16 * (1 + up_to(20));
  Problem p = problem_of(lengths, size, stride);
  p.dtype = *rc::gen::element(spec::DType::fp16, spec::DType::bf16);
  p.heads = 1 + up_to(127), p.head_dim = 1 + up_to(1023);
  return p;
}

/// Returns whether the buffers lie one after the other in the unified buffer (a memory of the
/// device), and whether each buffer for a tile has the size of the tile.
bool is_legal(const Problem& p, const device::Spec& spec) {
  const Tiling tiling = plan(p, spec);
  device::Bytes used;
  for (const auto& buffer : tiling.buffers) {
    if (buffer.memory != "UB" || buffer.offset < used || buffer.offset.count % 32 != 0)
      return false;
    used = buffer.offset + buffer.size;
    if (buffer.what == "wide input" && buffer.size.count != tiling.tokens * tiling.channels * 4)
      return false;
    if (buffer.what == "wide output gradient" &&
        buffer.size.count != tiling.most_windows * tiling.channels * 4)
      return false;
  }
  return used <= tiling.ub && tiling.ub <= bytes_of(spec.memories.ub) && tiling.tokens % 16 == 0 &&
         tiling.channels % 16 == 0 && tiling.parts >= 1 &&
         (tiling.slices - 1) * tiling.channels < p.head_dim &&
         p.head_dim <= tiling.slices * tiling.channels;
}

RC_GTEST_PROP(CompressTiling, FitsTheUnifiedBufferOfEveryDevice, ()) {
  const Problem p = random_problem(6000);
  for (const device::Spec& spec : device::devices()) RC_ASSERT(is_legal(p, spec));
}

TEST(CompressTiling, ReportsItsRegimes) {
  Problem p = problem_of({96, 0, 40, 16}, 32, 16);
  p.heads = 1, p.head_dim = 72;
  const auto times = [&](std::int64_t tokens, std::int64_t channels) {
    return test::times_of(regimes_of(tiling_of(p, device::a2(), tokens, channels), p.head_dim));
  };
  auto wide = times(32, 80);
  EXPECT_EQ(wide["token_tile.whole"], 4);  // 3 tiles of the 96 tokens, the first tile of the 40
  EXPECT_EQ(wide["token_tile.tail"], 2);
  EXPECT_EQ(wide["token_tile.without_window"], 2);  // tokens 32 to 39 of the 40, the 16 tokens
  EXPECT_EQ(wide["slice.whole"], 0);
  EXPECT_EQ(wide["slice.tail"], 1);
  EXPECT_EQ(wide["tokens.in_one_part"] + wide["tokens.in_several_parts"], 1);
  auto narrow = times(16, 32);
  EXPECT_EQ(narrow["slice.whole"], 2);
  EXPECT_EQ(narrow["slice.tail"], 1);
  p.head_dim = 96;
  EXPECT_EQ(times(16, 32)["slice.tail"], 0);
}

TEST(CompressTiling, AdaptsIfTheUnifiedBufferIsOneByteTooSmall) {
  Problem p = problem_of({3000, 70}, 32, 16);
  p.heads = 4, p.head_dim = 192;
  const device::Spec usual = device::a2();
  std::size_t fitting = 0;
  for (const auto& [tokens, channels] : tile_extents(p)) {
    device::Spec exact = usual;
    exact.memories.ub.value = 1e9;
    const Tiling tiling = tiling_of(p, exact, tokens, channels);
    EXPECT_EQ(tiling.tokens, tokens);
    EXPECT_EQ(tiling.channels, channels);
    fitting += tiling.ub <= bytes_of(usual.memories.ub);
    exact.memories.ub.value = static_cast<double>(tiling.ub.count);
    EXPECT_EQ(tiling_of(p, exact, tokens, channels).ub, tiling.ub);
    exact.memories.ub.value -= 1;
    EXPECT_THROW(tiling_of(p, exact, tokens, channels), device::DeviceFault) << tokens;
  }
  EXPECT_GT(fitting, 10U);
  device::Spec tight = usual;
  const Tiling before = plan(p, usual);
  tight.memories.ub.value = static_cast<double>(before.ub.count - 1);
  EXPECT_LT(plan(p, tight).ub, before.ub);
  tight.memories.ub.value = 1000;
  EXPECT_THROW(plan(p, tight), device::DeviceFault);
}

TEST(CompressTiling, IsLegalForEverySizeOfHeadsAndEveryWindow) {
  for (std::int64_t head_dim = 1; head_dim <= 1024; head_dim += head_dim < 64 ? 1 : 15)
    for (std::int64_t size = 32; size <= 1024; size *= 2)
      for (const std::int64_t stride : {std::int64_t{16}, size / 2, size - 16}) {
        Problem p = problem_of({5000, 3}, size, stride);
        p.head_dim = head_dim;
        ASSERT_TRUE(is_legal(p, device::a2())) << head_dim << ": " << size << " by " << stride;
      }
}

/// Expects that every token of every sequence is in exactly one tile, and that no tile needs more
/// windows than its buffers can contain.
RC_GTEST_PROP(CompressTiling, CutsEveryTokenOnce, ()) {
  const Problem p = random_problem(3000);
  const Tiling tiling = plan(p, device::a2());
  std::int64_t b = 0, token = 0;
  for (std::int64_t part = 0; part < tiling.parts; ++part) {
    PartTiles tiles(tiling, part);
    while (const auto tile = tiles.next()) {
      while (token == p.length(b)) ++b, token = 0;
      RC_ASSERT(tile->b == b && tile->first == token && tile->last > token);
      RC_ASSERT(tile->count() <= tiling.tokens && tile->last <= p.length(b));
      RC_ASSERT(tiling.windows.over(*tile).count() <= tiling.most_windows);
      token = tile->last;
    }
  }
  while (b + 1 < p.batch && token == p.length(b)) ++b, token = 0;
  RC_ASSERT(b == p.batch - 1 && token == p.length(b));
}

RC_GTEST_PROP(CompressTiling, FindsTheWindowsOverEveryRange, ()) {
  const Problem p = random_problem(800);
  const Windows windows(p);
  for (std::int64_t b = 0; b < p.batch; ++b) {
    const std::int64_t size = windows.size(), stride = windows.stride();
    const std::int64_t count = test::compress::windows_within(p.length(b), size, stride);
    RC_ASSERT(windows.windows(b) == count && windows.tokens(b) == p.length(b));
    if (p.length(b) == 0) continue;
    const std::int64_t first = up_to(p.length(b) - 1);
    const TokenRange range = {b, first, first + 1 + up_to(p.length(b) - first - 1)};
    std::int64_t over = 0;
    for (std::int64_t i = 0; i < count; ++i)
      over += i * stride < range.last && range.first < i * stride + size;
    RC_ASSERT(windows.over(range).count() == over);
    const TokenRange alike = windows.alike(range);
    RC_ASSERT(alike.first == first && alike.count() > 0 && alike.last <= range.last);
    RC_ASSERT(alike.count() <= stride);
    for (std::int64_t token = first; token < alike.last; ++token)
      RC_ASSERT(windows.over({b, token, token + 1}) == windows.over({b, first, first + 1}));
  }
}

TEST(CompressTiling, KeepsAllCoresBusy) {
  for (const auto& [heads, parts] :
       {std::pair{48, 1}, {64, 3}, {96, 1}, {1, 48}, {4, 12}, {128, 3}}) {
    Problem p = {.heads = heads, .seq = 32768, .head_dim = 128};
    EXPECT_EQ(plan(p, device::a2()).parts, parts) << heads;
  }
}

TEST(CompressTiling, HasNoMorePartsThanTiles) {
  EXPECT_EQ(plan({.heads = 1, .seq = 200, .head_dim = 128}, device::a2()).parts, 4);
  EXPECT_EQ(plan({.heads = 1, .seq = 20, .head_dim = 128}, device::a2()).parts, 1);
}

TEST(CompressTiling, PublishedHeadSizesTakeWholeHeadsAndStrides) {
  for (const std::int64_t head_dim : {64, 128, 192, 256})
    for (const auto& [size, stride] : {std::pair{32, 16}, {64, 48}, {128, 112}}) {
      Problem p = {.heads = 4,
                   .seq = 4096,
                   .head_dim = head_dim,
                   .compress_block_size = size,
                   .compress_stride = stride};
      const Tiling tiling = plan(p, device::a2());
      EXPECT_EQ(tiling.slices, 1) << head_dim;
      if (stride < tiling.tokens) {
        EXPECT_EQ(tiling.tokens % stride, 0) << head_dim << ' ' << size;
      }
    }
}

TEST(CompressTiling, NamesTheBufferThatIsTooSmall) {
  device::Spec spec = device::a2();
  spec.memories.ub.value = 4096;
  try {
    plan(problem_of({100}, 32, 16), spec);
    FAIL() << "the tiling must fail";
  } catch (const device::DeviceFault& fault) {
    EXPECT_STREQ(fault.what(),
                 "UB overflow: input gradient sums needs 1024 B at offset 3456, capacity is 4096 "
                 "B");
  }
}

TEST(CompressTiling, RefusesAWindowWhoseChainsDoNotFit) {
  EXPECT_NO_THROW(plan(problem_of({9000}, 1504, 16), device::a2()));
  EXPECT_THROW(plan(problem_of({9000}, 2048, 16), device::a2()), device::DeviceFault);
  const test::compress::Example example = {.problem = problem_of({9000}, 4096, 16)};
  EXPECT_THROW(test::compress::run(example, test::compress::zeros(example)), device::DeviceFault);
}

TEST(CompressTiling, ProblemWithoutAWindowHasNothingToSchedule) {
  const Problem p = problem_of({31, 9}, 32, 16);
  const std::string plan = optimized::Tiled<spec::NsaCompressGrad>::plan(p, device::a2());
  EXPECT_TRUE(plan.ends_with("no schedule: the problem has no full window\n")) << plan;
  EXPECT_THROW(optimized::Tiled<spec::NsaCompressGrad>::trace(p, device::a2()),
               optimized::NothingToCut);
}

TEST(CompressTiling, PrintsOneLinePerBuffer) {
  const Tiling tiling = plan({.seq = 300, .head_dim = 128}, device::a2());
  const std::string text = to_text(tiling);
  EXPECT_TRUE(
      text.starts_with("tile 64 tokens x 128 channels, covered by at most 6 windows, 1 slices of "
                       "a head, 5 parts of 300 tokens\nUB input ping: 16384 B at 0\n"))
      << text;
  EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')),
            tiling.buffers.size() + 2);
}

}  // namespace
