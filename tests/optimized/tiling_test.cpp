#include "assay/optimized/flash_attention_score_grad/tiling.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "assay/device/scratchpad.hpp"

namespace {

using namespace assay;
using Problem = spec::FlashAttentionScoreGrad::Problem;
using optimized::plan;
using optimized::Tiling;

Problem random_problem() {
  const auto up_to = [](std::int64_t last) { return *rc::gen::inRange<std::int64_t>(1, last + 1); };
  Problem p{.dtype = *rc::gen::element(spec::DType::fp16, spec::DType::bf16, spec::DType::fp32),
            .seq_q = up_to(5000),
            .seq_kv = up_to(5000),
            .head_dim = up_to(768)};
  p.head_dim_v = up_to(p.head_dim);
  p.sparse_mode = *rc::gen::inRange<std::int64_t>(0, 5);
  if (*rc::gen::arbitrary<bool>())
    p.atten_mask = p.sparse_mode < 2 ? spec::MaskShape::ss : spec::MaskShape::compressed;
  p.next_tokens = *rc::gen::inRange<std::int64_t>(-300, 6000);
  p.pre_tokens = *rc::gen::inRange<std::int64_t>(300, 6000);
  return p;
}

RC_GTEST_PROP(Tiling, FitsEveryBufferOfEveryDevice, ()) {
  const Problem p = random_problem();
  for (const device::Spec& spec : device::devices()) {
    const Tiling tiling = plan(p, spec);
    RC_ASSERT(tiling.l1 <= bytes_of(spec.memories.l1));
    RC_ASSERT(tiling.l0a <= bytes_of(spec.memories.l0a));
    RC_ASSERT(tiling.l0b <= bytes_of(spec.memories.l0b));
    RC_ASSERT(tiling.l0c <= bytes_of(spec.memories.l0c));
    RC_ASSERT(tiling.ub <= bytes_of(spec.memories.ub));
  }
}

/// The predicates themselves, element by element.
bool may_attend(const Problem& p, std::int64_t i, std::int64_t j) {
  if (p.atten_mask == spec::MaskShape::absent) return true;
  switch (p.sparse_mode) {
    case 0:
      return i - p.pre_tokens <= j && j <= i + p.next_tokens;
    case 2:
      return j <= i;
    case 3:
      return j <= i + p.seq_kv - p.seq_q;
    case 4:
      return i + p.seq_kv - p.seq_q - p.pre_tokens <= j &&
             j <= i + p.seq_kv - p.seq_q + p.next_tokens;
    default:
      return true;
  }
}

RC_GTEST_PROP(Tiling, SkipsOnlyBlocksThatNoQueryAttendsTo, ()) {
  Problem p = random_problem();
  p.seq_q = 1 + p.seq_q % 400, p.seq_kv = 1 + p.seq_kv % 400;
  p.next_tokens %= 400;
  p.pre_tokens = std::max(p.pre_tokens % 400, -p.next_tokens);
  const optimized::SequenceTiles tiling = plan(p, device::a2()).sequence(0);
  for (std::int64_t r = 0; r < tiling.row_tiles; ++r)
    for (std::int64_t c = 0; c < tiling.key_tiles; ++c) {
      bool any = false;
      for (std::int64_t i = 0; i < tiling.rows_of(r); ++i)
        for (std::int64_t j = 0; j < tiling.columns_of(c); ++j)
          any = any || may_attend(p, r * tiling.rows + i, c * tiling.columns + j);
      RC_ASSERT(tiling.keys_of(r).holds(c) == any);
    }
}

TEST(Tiling, ComputesHalfOfTheBlocksOfACausalMask) {
  const Problem p = {.seq_q = 4096,
                     .seq_kv = 4096,
                     .head_dim = 128,
                     .head_dim_v = 128,
                     .sparse_mode = 2,
                     .atten_mask = spec::MaskShape::compressed};
  EXPECT_EQ(plan(p, device::a2()).blocks(), 32 * 33 / 2);
}

TEST(Tiling, UsesBlocksOf128WithTwoOfEveryTile) {
  const Tiling tiling =
      plan({.seq_q = 4096, .seq_kv = 4096, .head_dim = 128, .head_dim_v = 128}, device::a2());
  EXPECT_EQ(tiling.rows, 128);
  EXPECT_EQ(tiling.columns, 128);
  EXPECT_EQ(tiling.l0a.count, 64 * 1024);
  EXPECT_EQ(tiling.l0c.count, 128 * 1024);
  EXPECT_TRUE(tiling.keys_stay);
}

TEST(Tiling, StreamsKeysThatDoNotFitL1) {
  const Tiling tiling = plan({.dtype = spec::DType::fp32,
                              .seq_q = 4096,
                              .seq_kv = 4096,
                              .head_dim = 768,
                              .head_dim_v = 768},
                             device::a2());
  EXPECT_FALSE(tiling.keys_stay);
  EXPECT_EQ(tiling.l1_depth, 256);
  EXPECT_EQ(tiling.l0_depth, 64);
}

TEST(Tiling, TakesTheLongestSequences) {
  const Problem p = {.seq_q = 1048576,
                     .seq_kv = 1048576,
                     .head_dim = 128,
                     .head_dim_v = 128,
                     .sparse_mode = 3,
                     .atten_mask = spec::MaskShape::compressed};
  EXPECT_EQ(plan(p, device::a2()).blocks(), 8192LL * 8193 / 2);
}

TEST(Tiling, NamesTheBufferThatIsTooSmall) {
  device::Spec spec = device::a2();
  spec.memories.ub.value = 2048;
  try {
    plan({.dtype = spec::DType::fp32}, spec);
    FAIL() << "no fault";
  } catch (const device::DeviceFault& fault) {
    EXPECT_STREQ(fault.what(),
                 "UB overflow: scores pong needs 512 B at offset 1792, capacity is 2048 B");
  }
}

TEST(Tiling, ShrinksBlocksForASmallerAccumulator) {
  device::Spec spec = device::a2();
  spec.memories.l0c.value = 32 * 1024;
  EXPECT_EQ(plan({.seq_q = 4096, .seq_kv = 4096}, spec).rows, 64);
}

TEST(Tiling, PrintsOneLinePerBuffer) {
  const Tiling tiling = plan({.seq_q = 300, .seq_kv = 300}, device::a2());
  const std::string text = to_text(tiling);
  EXPECT_NE(text.find("block 128 x 128 of 3 x 3 per head, 9 computed\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("L0C accumulators pong: 65536 B at 65536\n"), std::string::npos) << text;
  EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')),
            tiling.buffers.size() + 3);
}

}  // namespace
