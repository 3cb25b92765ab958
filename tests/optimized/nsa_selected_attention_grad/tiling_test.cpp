#include "assay/optimized/nsa_selected_attention_grad/tiling.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "../implementation_checks.hpp"
#include "assay/device/scratchpad.hpp"
#include "assay/optimized/nsa_selected_attention_grad/demand.hpp"
#include "nsa_selected_attention_grad/readers.hpp"
#include "trial.hpp"

namespace {

using namespace assay;
using namespace assay::optimized::selected;
using optimized::Traffic;
using test::selected::Entry;
using test::selected::Example;
using test::selected::same_bits;
using Op = spec::NsaSelectedAttentionGrad;
using Problem = Op::Problem;

std::int64_t up_to(std::int64_t last) { return *rc::gen::inRange<std::int64_t>(1, last + 1); }

/// Makes a random legal problem. Its sequences have at most 40 blocks.
Problem random_problem() {
  Problem p{.dtype = *rc::gen::element(spec::DType::fp16, spec::DType::bf16),
            .batch = up_to(4),
            .heads_kv = up_to(4),
            .head_dim = *rc::gen::element<std::int64_t>(128, 192),
            .head_dim_v = *rc::gen::element<std::int64_t>(128, 192),
            .selected_block_size = 16 * up_to(8),
            .selected_block_count = up_to(32)};
  p.heads_q = p.heads_kv * up_to(32);
  p.seq_q = p.seq_kv = 0;
  for (std::int64_t b = 0; b < p.batch; ++b) {
    p.lengths_q.push_back(up_to(5000));
    p.lengths_kv.push_back(p.selected_block_size * (p.selected_block_count - 1 + up_to(8)));
    p.seq_q = std::max(p.seq_q, p.lengths_q.back());
    p.seq_kv = std::max(p.seq_kv, p.lengths_kv.back());
  }
  if (*rc::gen::arbitrary<bool>()) p.sparse_mode = 2, p.atten_mask = spec::SelectedMask::compressed;
  return p;
}

/// Returns whether all buffers lie one after the other in their memories and have the stated sizes.
bool is_legal(const Problem& p, const device::Spec& spec) {
  const Tiling tiling = plan(p, spec);
  const std::int64_t rows = tiling.tokens * p.group();
  return test::has_legal_buffers(tiling, spec) && tiling.tokens >= 1 && rows <= tiling.rows &&
         tiling.rows % 16 == 0 && tiling.rows - rows < std::max<std::int64_t>(16, p.group() + 16) &&
         tiling.columns == p.selected_block_size;
}

RC_GTEST_PROP(SelectedTiling, FitsEveryBufferOfEveryDevice, ()) {
  const Problem p = random_problem();
  for (const device::Spec& spec : device::devices()) RC_ASSERT(is_legal(p, spec));
}

TEST(SelectedTiling, ReportsItsRegimes) {
  Tiling tiling{};
  tiling.tokens = 4;
  const auto times = test::times_of(regimes_of(tiling, {{0, 2}, {3, 5}, {4, 7}, {8, 11}, {9, 1}}));
  EXPECT_EQ(times, (std::map<std::string, double>{{"key_block.unlisted", 2},
                                                  {"key_block.one_tile", 12},
                                                  {"key_block.several_tiles", 12},
                                                  {"token_tile.tail", 6},
                                                  {"keys.stay_in_l1", 0},
                                                  {"keys.loaded_again", 1}}));
}

TEST(SelectedTiling, AdaptsIfACapacityIsOneByteTooSmall) {
  const Problem p{.heads_q = 16,
                  .heads_kv = 4,
                  .seq_q = 4096,
                  .seq_kv = 4096,
                  .head_dim = 192,
                  .head_dim_v = 128,
                  .selected_block_size = 64,
                  .selected_block_count = 16};
  const device::Spec usual = device::a2();
  for (std::int64_t tokens = 1; tokens <= most_tokens(p, usual); tokens *= 2) {
    const Tiling before = tiling_of(p, usual, tokens);
    EXPECT_EQ(before.tokens, tokens);
    for (const auto& [capacity, peak] : {std::pair{&device::Memories::l1, &Tiling::l1},
                                         {&device::Memories::l0a, &Tiling::l0a},
                                         {&device::Memories::l0b, &Tiling::l0b},
                                         {&device::Memories::l0c, &Tiling::l0c},
                                         {&device::Memories::ub, &Tiling::ub}}) {
      device::Spec tight = usual;
      device::Quantity& limit = tight.memories.*capacity;
      limit.value = static_cast<double>((before.*peak).count - 1);
      try {
        EXPECT_LT(tiling_of(p, tight, tokens).*peak, before.*peak) << limit.name;
      } catch (const device::DeviceFault& fault) {
        EXPECT_NE(std::string(fault.what()).find("overflow"), std::string::npos) << fault.what();
      }
    }
  }
}

TEST(SelectedTiling, IsLegalForEveryGroupSizeAndBlockSize) {
  for (std::int64_t group = 1; group <= 32; ++group)
    for (std::int64_t size = 16; size <= 128; size += 16)
      for (const std::int64_t seq : {1, 3, 4096}) {
        const Problem p = {.heads_q = group,
                           .seq_q = seq,
                           .seq_kv = 4 * size,
                           .head_dim_v = 192,
                           .selected_block_size = size};
        ASSERT_TRUE(is_legal(p, device::a2())) << group << " x " << size;
      }
}

TEST(SelectedTiling, FillsItsRowsWithWholeTokens) {
  const auto tokens = [](std::int64_t group) {
    return plan({.heads_q = group, .seq_q = 4096, .seq_kv = 4096}, device::a2()).tokens;
  };
  EXPECT_EQ(tokens(1), 128);
  EXPECT_EQ(tokens(16), 8);
  EXPECT_EQ(tokens(17), 7);
  EXPECT_EQ(tokens(32), 4);
  EXPECT_EQ(plan({.heads_q = 4, .seq_q = 3}, device::a2()).tokens, 3);
}

TEST(SelectedTiling, NamesTheBufferThatIsTooSmall) {
  device::Spec spec = device::a2();
  spec.memories.ub.value = 2048;
  try {
    plan({}, spec);
    FAIL() << "the tiling must fail";
  } catch (const device::DeviceFault& fault) {
    EXPECT_EQ(std::string(fault.what()).substr(0, 12), "UB overflow:") << fault.what();
  }
  // The tiling must place all rows of a head group in memory at the same time.
  spec = device::a2();
  spec.memories.l0c.value = 4 * 1024;
  EXPECT_NO_THROW(plan({.heads_q = 16, .seq_q = 64}, spec));
  EXPECT_THROW(plan({.heads_q = 32, .seq_q = 64}, spec), device::DeviceFault);
}

TEST(SelectedTiling, PrintsOneLinePerBuffer) {
  const Tiling tiling = plan({.heads_q = 17, .seq_q = 300}, device::a2());
  const std::string text = to_text(tiling);
  EXPECT_NE(text.find("block 128 x 16, 7 query tokens that list a key block\n"), std::string::npos)
      << text;
  EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')),
            tiling.buffers.size() + 3);
}

RC_GTEST_PROP(SelectedDemand, SpreadsEveryListOverTheBlocks, ()) {
  const Problem p = random_problem();
  std::int64_t blocks = 0, listed = 0;
  for (const auto& [times, count] : even_demand(p)) blocks += count, listed += times * count;
  RC_ASSERT(blocks == key_extents(p).rows() / p.selected_block_size);
  RC_ASSERT(listed == topk_extents(p).rows() * p.selected_block_count);
}

/// The memory traffic, counted by hand: four tokens list one of the two blocks of 16 keys. The
/// padding rows of a tile are not read.
TEST(SelectedTraffic, OneBlockMovesWhatItsProductsReadAndWrite) {
  const Problem p = {.heads_q = 3,
                     .seq_q = 4,
                     .seq_kv = 32,
                     .head_dim = 16,
                     .head_dim_v = 16,
                     .selected_block_size = 16,
                     .selected_block_count = 1};
  const Tiling tiling = plan(p, device::a2());
  ASSERT_TRUE(tiling.keys_stay);
  const std::int64_t rows = tiling.tokens * 3 * 16 * 2, keys = 16 * 16 * 2,
                     scores = tiling.rows * 16;
  const std::int64_t q = 4 * 3, kv = 32, gradients = (q + 2 * kv) * 16, statistics = 8 * 4;
  const std::int64_t tokens_of_half = device::ceil_divide(tiling.rows / 2, 3);
  const Traffic one = traffic(p, tiling, {{0, 1}, {4, 1}});
  EXPECT_EQ(one.read.count,
            4 * rows + 2 * scores * 2 + 2 * 2 * keys  // also the keys of the other block
                + 2 * scores * 4 + 3 * tiling.rows * statistics + 2 * tokens_of_half * 8  //
                + 4 * 4 + 2 * q * 16 * 2 + gradients * 4);
  EXPECT_EQ(one.written.count, 2 * scores * 4 + 2 * scores * 2 + tiling.rows * 16 * 4 +
                                   2 * 16 * 16 * 4  //
                                   + gradients * 4 + 4 * 8 + q * statistics + gradients * 2);
}

TEST(SelectedTraffic, IsReportedByTheImplementationOfTheListsAsTheyAre) {
  const Example example = {.problem = {.seq_q = 30, .seq_kv = 64},
                           .block = [](const Entry& e) { return e.slot; }};
  const auto implementation = optimized::nsa_selected_attention_grad(device::a2());
  const auto run = [&] {
    test::selected::Op::Outputs outputs = outputs_of(example);
    implementation->run(example.problem, inputs_of(example), outputs);
  };
  const Tiling tiling = plan(example.problem, device::a2());
  test::expect_metrics(*implementation, run, 7,
                       traffic(example.problem, tiling, {{0, 2}, {30, 2}}));
}

TEST(SelectedCostTable, ChangesNoOutputBit) {
  const Example example = {.problem = {.heads_q = 2, .seq_q = 140, .seq_kv = 64}};
  const auto inputs = inputs_of(example);
  auto usual = outputs_of(example), slow = outputs_of(example);
  optimized::nsa_selected_attention_grad(device::a2())->run(example.problem, inputs, usual);
  optimized::nsa_selected_attention_grad(test::slower(device::a2()))
      ->run(example.problem, inputs, slow);
  EXPECT_TRUE(same_bits(usual, slow));
}

/// The inverted lists (for each block, the tokens that list it), computed by hand. The problem has
/// two tokens and three blocks of 16 keys. With the mask, the tokens attend only to the first
/// block.
TEST(Readers, HaveEveryTokenAsOftenAsItListsTheBlock) {
  Example example = {
      .problem = {.seq_q = 2, .seq_kv = 48, .selected_block_count = 3},
      .block = [](const Entry& e) { return e.token == 0 ? 2 - e.slot : 2 * (e.slot % 2); }};
  const auto inverted = [](const Example& e, std::int64_t block) {
    const auto inputs = inputs_without_forward(e);
    const Lists lists(e.problem, inputs.topk_indices, "NSAS-C38");
    Readers readers;
    readers.invert(lists, 0, 0, 2);
    std::vector<std::pair<int, int>> all;
    for (const Reader& reader : readers.of(block)) all.emplace_back(reader.token, reader.rank);
    return all;
  };
  using Expected = std::vector<std::pair<int, int>>;
  // Token 0 lists the blocks 2, 1, 0; token 1 lists the blocks 0, 2, 0.
  EXPECT_EQ(inverted(example, 0), (Expected{{0, 0}, {1, 0}, {1, 1}}));
  EXPECT_EQ(inverted(example, 1), (Expected{{0, 1}}));
  EXPECT_EQ(inverted(example, 2), (Expected{{0, 2}, {1, 2}}));
  example.problem.sparse_mode = 2, example.problem.atten_mask = spec::SelectedMask::compressed;
  EXPECT_EQ(inverted(example, 0), (Expected{{0, 0}, {1, 0}, {1, 1}}));
  EXPECT_EQ(inverted(example, 1), Expected{});
  EXPECT_EQ(inverted(example, 2), Expected{});
}

}  // namespace
