#include "assay/optimized/attention/tiling.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "../implementation_checks.hpp"
#include "assay/device/scratchpad.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace {

using namespace assay;
using Problem = spec::FlashAttentionScoreGrad::Problem;
using optimized::plan;
using optimized::Tiling;

std::int64_t up_to(std::int64_t last) { return *rc::gen::inRange<std::int64_t>(1, last + 1); }

/// Makes a random problem. In TND it has up to four sequences, some of them empty. It has any
/// sparse mode that the layout allows.
Problem random_problem() {
  Problem p{.dtype = *rc::gen::element(spec::DType::fp16, spec::DType::bf16, spec::DType::fp32),
            .batch = up_to(4),
            .seq_q = up_to(5000),
            .seq_kv = up_to(5000),
            .head_dim = up_to(768)};
  p.head_dim_v = up_to(p.head_dim);
  if (*rc::gen::arbitrary<bool>()) {
    p.input_layout = spec::Layout::tnd;
    for (std::int64_t b = 0; b < p.batch; ++b) {
      p.lengths_q.push_back(b == 0 ? p.seq_q : up_to(p.seq_q + 1) - 1);
      p.lengths_kv.push_back(b == 0 ? p.seq_kv : up_to(p.seq_kv + 1) - 1);
    }
    p.head_dim_rope = up_to(p.head_dim + 1) - 1;
  }
  p.sparse_mode = *rc::gen::inRange<std::int64_t>(0, p.lengths_q.empty() ? 7 : 9);
  if (*rc::gen::arbitrary<bool>())
    p.atten_mask =
        p.sparse_mode < 2 || p.sparse_mode == 5 ? spec::MaskShape::ss : spec::MaskShape::compressed;
  for (std::int64_t b = 0; b < p.batch; ++b) p.prefix.push_back(up_to(p.length_kv(b) + 1) - 1);
  p.next_tokens = *rc::gen::inRange<std::int64_t>(-300, 6000);
  p.pre_tokens = *rc::gen::inRange<std::int64_t>(300, 6000);
  if (*rc::gen::arbitrary<bool>()) p.pse_shift = spec::PseShape::bnss;
  if (*rc::gen::arbitrary<bool>()) p.keep_prob = 0.5, p.drop_mask = spec::DropMask::exact;
  if (*rc::gen::arbitrary<bool>()) p.sink = spec::SinkShape::per_head;
  return p;
}

bool is_legal(const Problem& p, const device::Spec& spec) {
  return test::has_legal_buffers(plan(p, spec), spec);
}

/// Returns one problem for each feature that changes the contents of the device's memories.
std::vector<Problem> modes() {
  const Problem dense = {.seq_q = 2000, .seq_kv = 1500, .head_dim = 128, .head_dim_v = 128};
  std::vector<Problem> all = {dense};
  const auto add = [&](const auto& change) { change(all.emplace_back(dense)); };
  add([](Problem& p) { p.dtype = spec::DType::fp32; });
  add([](Problem& p) { p.head_dim = 192; });
  add([](Problem& p) { p.sparse_mode = 3, p.atten_mask = spec::MaskShape::compressed; });
  add([](Problem& p) { p.pse_shift = spec::PseShape::bnss; });
  add([](Problem& p) { p.keep_prob = 0.5; });
  add([](Problem& p) { p.sink = spec::SinkShape::per_head; });
  add([](Problem& p) {
    p.input_layout = spec::Layout::tnd, p.head_dim_rope = 64;
    p.lengths_q = {2000}, p.lengths_kv = {1500};
  });
  return all;
}

TEST(Tiling, AdaptsInEveryModeIfACapacityIsOneByteTooSmall) {
  const device::Spec usual = device::a2();
  for (const Problem& p : modes()) {
    const Tiling before = plan(p, usual);
    for (const auto& [capacity, peak] : {std::pair{&device::Memories::l1, &Tiling::l1},
                                         {&device::Memories::l0a, &Tiling::l0a},
                                         {&device::Memories::l0b, &Tiling::l0b},
                                         {&device::Memories::l0c, &Tiling::l0c},
                                         {&device::Memories::ub, &Tiling::ub}}) {
      device::Spec tight = usual;
      device::Quantity& limit = tight.memories.*capacity;
      limit.value = static_cast<double>((before.*peak).count - 1);
      const Tiling after = plan(p, tight);
      EXPECT_LT(after.*peak, before.*peak) << limit.name;
    }
  }
}

TEST(Tiling, ReportsItsRegimes) {
  using Times = std::map<std::string, double>;
  const device::Spec a2 = device::a2();
  Problem p = {.batch = 3, .seq_q = 2000, .seq_kv = 1500, .head_dim = 128, .head_dim_v = 128};
  EXPECT_EQ(test::times_of(regimes_of(plan(p, a2))), (Times{{"query_tile.whole", 45},
                                                            {"query_tile.tail", 3},
                                                            {"query_tile.without_key", 0},
                                                            {"key_tile.whole", 33},
                                                            {"key_tile.tail", 3},
                                                            {"block.computed", 576},
                                                            {"block.skipped", 0},
                                                            {"keys.stay_in_l1", 1},
                                                            {"keys.loaded_again", 0}}));
  p = {.batch = 1, .seq_q = 256, .seq_kv = 256, .head_dim = 128, .head_dim_v = 128};
  p.atten_mask = spec::MaskShape::ss, p.sparse_mode = 0, p.pre_tokens = 9999, p.next_tokens = -128;
  Times times = test::times_of(regimes_of(plan(p, a2)));
  EXPECT_EQ(times["query_tile.without_key"], 1);
  EXPECT_EQ(times["query_tile.whole"], 2);
  EXPECT_EQ(times["query_tile.tail"] + times["key_tile.tail"], 0);
  EXPECT_EQ(times["block.computed"], 1);
  EXPECT_EQ(times["block.skipped"], 3);
}

RC_GTEST_PROP(Tiling, FitsEveryBufferOfEveryDevice, ()) {
  const Problem p = random_problem();
  for (const device::Spec& spec : device::devices()) RC_ASSERT(is_legal(p, spec));
}

TEST(Tiling, IsLegalForEveryHeadSizeWithAndWithoutEveryFeature) {
  const device::Spec spec = device::a2();
  for (std::int64_t d = 1; d <= 768; ++d)
    for (const std::int64_t rope : {std::int64_t{0}, std::min<std::int64_t>(d, 64), d})
      for (const spec::DType dtype : {spec::DType::bf16, spec::DType::fp32})
        for (const bool features : {false, true}) {
          Problem p = {.input_layout = spec::Layout::tnd,
                       .dtype = dtype,
                       .seq_q = 4096,
                       .seq_kv = 4096,
                       .head_dim = d,
                       .head_dim_v = d,
                       .head_dim_rope = rope};
          if (features) {
            p.atten_mask = spec::MaskShape::compressed, p.sparse_mode = 3;
            p.pse_shift = spec::PseShape::one_nhs;
            p.keep_prob = 0.9, p.drop_mask = spec::DropMask::granules;
          }
          ASSERT_TRUE(is_legal(p, spec)) << d << " with " << rope;
        }
}

TEST(Tiling, HoldsWhatAFeatureNeedsInTheUnifiedBuffer) {
  Problem p = {.seq_q = 4096, .seq_kv = 4096, .head_dim = 128, .head_dim_v = 128};
  const auto size_of_buffer = [](const Tiling& tiling, const std::string& what) {
    for (const auto& buffer : tiling.buffers)
      if (buffer.what == what + " ping") return buffer.size.count;
    return std::int64_t{0};
  };
  const Tiling plain = plan(p, device::a2());
  for (const char* what : {"mask", "bias", "stored bias", "drop bits", "dropped prob"})
    EXPECT_EQ(size_of_buffer(plain, what), 0) << what;
  p.sparse_mode = 2, p.atten_mask = spec::MaskShape::compressed;
  p.pse_shift = spec::PseShape::bnss;
  p.keep_prob = 0.5, p.drop_mask = spec::DropMask::exact;
  const Tiling full = plan(p, device::a2());
  const std::int64_t elements = full.vector_rows * full.columns;
  EXPECT_EQ(size_of_buffer(full, "mask"), elements);
  EXPECT_EQ(size_of_buffer(full, "bias"), 4 * elements);
  EXPECT_EQ(size_of_buffer(full, "stored bias"), 2 * elements);
  EXPECT_EQ(size_of_buffer(full, "drop bits"), elements / 8);
  EXPECT_EQ(size_of_buffer(full, "dropped prob"), 4 * elements);
  EXPECT_LE(full.vector_rows, plain.vector_rows);
}

/// Returns whether query i may attend to key j. The test compares this with the tiling element by
/// element.
bool may_attend(const Problem& p, std::int64_t b, std::int64_t i, std::int64_t j) {
  if (p.atten_mask == spec::MaskShape::absent) return true;
  const std::int64_t right = i + p.length_kv(b) - p.length_q(b);
  const bool band = right - p.pre_tokens <= j && j <= right + p.next_tokens;
  std::vector<std::int64_t> with_queries;
  for (std::int64_t k = 0; k < p.batch; ++k)
    if (p.length_q(k) > 0) with_queries.push_back(k);
  switch (p.sparse_mode) {
    case 0:
      return i - p.pre_tokens <= j && j <= i + p.next_tokens;
    case 2:
      return j <= i;
    case 3:
      return j <= right;
    case 4:
      return band;
    case 6:
      return j <= right || j < p.prefix[static_cast<std::size_t>(b)];
    case 7:
      return b == with_queries.back() ? band : j <= right;
    case 8:
      return b == with_queries.front() ? band : j <= i;
    default:
      return true;
  }
}

RC_GTEST_PROP(Tiling, SkipsOnlyBlocksThatNoQueryAttendsTo, ()) {
  Problem p = random_problem();
  p.seq_q = 1 + p.seq_q % 300, p.seq_kv = 1 + p.seq_kv % 300;
  for (auto& length : p.lengths_q) length %= p.seq_q + 1;
  for (auto& length : p.lengths_kv) length %= p.seq_kv + 1;
  for (auto& prefix : p.prefix) prefix %= p.seq_kv + 1;
  p.next_tokens %= 300;
  p.pre_tokens = std::max(p.pre_tokens % 300, -p.next_tokens);
  const Tiling all = plan(p, device::a2());
  std::int64_t blocks = 0;
  for (std::int64_t b = 0; b < p.batch; ++b) {
    const optimized::SequenceTiles& tiling = all.sequence(b);
    for (std::int64_t r = 0; r < tiling.row_tiles; ++r)
      for (std::int64_t c = 0; c < tiling.key_tiles; ++c) {
        bool any = false;
        for (std::int64_t i = 0; i < tiling.rows_of(r) && !any; ++i)
          for (std::int64_t j = 0; j < tiling.columns_of(c) && !any; ++j)
            any = may_attend(p, b, r * tiling.rows + i, c * tiling.columns + j);
        RC_ASSERT(tiling.keys_of(r).holds(c) == any);
        blocks += any ? 1 : 0;
      }
  }
  RC_ASSERT(all.blocks() == blocks);
}

TEST(Tiling, HasOneEntryForSequencesThatAreAlike) {
  Problem p = {.batch = 1000, .seq_q = 300, .seq_kv = 200};
  EXPECT_EQ(plan(p, device::a2()).sequences.size(), 1U);
  EXPECT_EQ(plan(p, device::a2()).blocks(), 1000 * 3 * 2);
  EXPECT_EQ(plan(p, device::a2()).key_tiles(), 1000 * 2);
  p.input_layout = spec::Layout::tnd, p.batch = 3;
  p.lengths_q = {300, 0, 120}, p.lengths_kv = {129, 200, 5};
  const Tiling tiling = plan(p, device::a2());
  EXPECT_EQ(tiling.sequences.size(), 3U);
  EXPECT_EQ(tiling.blocks(), 3 * 2 + 1);
  EXPECT_EQ(tiling.key_tiles(), 2 + 2 + 1);
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
    FAIL() << "the tiling must fail";
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

TEST(Tiling, PrintsTheSequencesOfAPack) {
  const Problem p = {.input_layout = spec::Layout::tnd,
                     .batch = 2,
                     .seq_q = 300,
                     .seq_kv = 300,
                     .lengths_q = {300, 20},
                     .lengths_kv = {300, 150}};
  const std::string text = to_text(plan(p, device::a2()));
  EXPECT_NE(text.find("block 128 x 128 of 2 sequences, 11 computed per head\n"), std::string::npos)
      << text;
}

}  // namespace
