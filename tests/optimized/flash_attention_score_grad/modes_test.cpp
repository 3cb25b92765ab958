#include <gtest/gtest.h>

#include <algorithm>

#include "assay/optimized/schedules/gradient.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"
#include "attention/schedules.hpp"
#include "attention/window.hpp"

namespace {

using namespace assay;
using namespace assay::optimized;
using Problem = spec::FlashAttentionScoreGrad::Problem;

constexpr std::int64_t edge = 128;

bool sees(const Window& window, std::int64_t i, std::int64_t j) {
  return j < window.prefix || (i - window.before <= j && j <= i + window.after);
}

/// Counts the blocks of 128 x 128 scores with at least one unmasked pair, by testing every pair.
std::int64_t counted_blocks(const Problem& p) {
  std::int64_t blocks = 0;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t r = 0; r < p.length_q(b); r += edge)
      for (std::int64_t c = 0; c < p.length_kv(b); c += edge) {
        bool kept = false;
        for (std::int64_t i = r; i < std::min(r + edge, p.length_q(b)) && !kept; ++i)
          for (std::int64_t j = c; j < std::min(c + edge, p.length_kv(b)) && !kept; ++j)
            kept = sees(window_of(p, b), i, j);
        blocks += kept;
      }
  return p.heads_q * blocks;
}

Problem masked(std::int64_t sparse_mode) {
  Problem p = {.batch = 2, .heads_q = 4, .heads_kv = 2, .seq_q = 700, .seq_kv = 900};
  p.sparse_mode = sparse_mode;
  p.atten_mask = spec::MaskShape::ss;
  return p;
}

std::int64_t modelled_blocks(const Problem& p) {
  return std::get<schedules::Attention>(attention_of(p)).blocks();
}

TEST(Schedules, ComputeTheBlocksThatEachMaskKeeps) {
  Problem band = masked(4), left = masked(0), prefix = masked(6);
  band.pre_tokens = 200, band.next_tokens = 100;
  left.pre_tokens = 130, left.next_tokens = -3;
  prefix.prefix = {0, 450};
  for (const Problem& p : {masked(1), masked(2), masked(3), band, left, prefix})
    EXPECT_EQ(modelled_blocks(p), counted_blocks(p)) << p.sparse_mode;
  EXPECT_LT(modelled_blocks(band), modelled_blocks(masked(3)));
  EXPECT_LT(modelled_blocks(masked(3)), modelled_blocks(masked(1)));
}

TEST(Schedules, ComputeTheBlocksOfPackedSequences) {
  for (const std::int64_t mode : {3, 7, 8}) {
    Problem p = masked(mode);
    p.input_layout = spec::Layout::tnd;
    p.batch = 4, p.lengths_q = {300, 300, 0, 129}, p.lengths_kv = {400, 400, 7, 128};
    p.seq_q = 300, p.seq_kv = 400, p.pre_tokens = 100, p.next_tokens = 20;
    EXPECT_EQ(modelled_blocks(p), counted_blocks(p)) << mode;
  }
}

TEST(Schedules, SayThatNoQuerySeesAKey) {
  Problem hidden = masked(4);
  hidden.pre_tokens = -2000, hidden.next_tokens = 3000;
  EXPECT_EQ(std::get<std::string>(attention_of(hidden)), "no query sees a key");
}

schedules::Features features(const Problem& p) {
  return std::get<schedules::Attention>(attention_of(p)).features;
}

TEST(Schedules, CountWhatOptionalTensorsNeedForATile) {
  const std::int64_t rows = 64, columns = 128, scores = rows * columns;
  Problem p = masked(3);
  p.atten_mask = spec::MaskShape::compressed;  // then no tile of the mask is read
  EXPECT_FALSE(features(p).any());
  p = masked(1);
  EXPECT_EQ(features(p).read(rows, columns).count, scores);
  EXPECT_EQ(features(p).tensors.count, p.seq_q * p.seq_kv);
  p.atten_mask = spec::MaskShape::absent;
  EXPECT_FALSE(features(p).any());

  p.pse_shift = spec::PseShape::bnss;
  EXPECT_EQ(features(p).read(rows, columns).count, 2 * scores);
  EXPECT_EQ(features(p).tensors.count, 2 * p.batch * p.heads_q * p.seq_q * p.seq_kv);
  EXPECT_EQ(features(p).of_scores.size(), 2U);  // the bias is converted to fp32 and added
  p.pse_shift = spec::PseShape::bn1s;
  EXPECT_EQ(features(p).read(rows, columns).count, 2 * columns);
  p.pse_shift = spec::PseShape::slopes_n, p.pse_type = 3;
  EXPECT_EQ(features(p).read(rows, columns).count, 4);
  EXPECT_EQ(features(p).of_scores.size(), 5U);  // 3 for the distance, 1 for the root, 1 for the sum
  EXPECT_TRUE(features(p).of_dprob.empty());

  p.pse_shift = spec::PseShape::absent, p.pse_type = 1, p.keep_prob = 0.5;
  EXPECT_EQ(features(p).read(rows, columns).count, scores / 8);
  EXPECT_EQ(features(p).of_scores.size(), 2U);
  EXPECT_EQ(features(p).of_dprob.size(), 2U);

  p.keep_prob = 1, p.sink = spec::SinkShape::per_head;
  EXPECT_EQ(features(p).read(rows, columns).count, 0);
  EXPECT_TRUE(features(p).of_scores.empty());
  EXPECT_EQ(features(p).of_dprob.size(), 2U);  // P dP and its sum
  EXPECT_EQ(features(p).tensors.count, 2 * 4 * p.heads_q);
  EXPECT_EQ(features(p).row_bytes_stored, 4);
  EXPECT_EQ(features(p).last_pass.count, 4 * (1 + 2 * 8) * p.batch * p.heads_q * p.seq_q);
}

/// A sink adds work for the modelled vector cores: in a tile of 128 x 128 scores each of two cores
/// computes 64 rows with the instructions `mul` and `row_sum`, and stores 4 B more per row. The
/// last pass reads more, too.
TEST(Schedules, TakeLongerWithASink) {
  Problem p = {.heads_q = 24, .heads_kv = 24, .seq_q = 512, .seq_kv = 512};
  p.head_dim = p.head_dim_v = 128;
  const auto modelled = [&] {
    return model(std::get<schedules::Attention>(attention_of(p)), schedules::same_ab(),
                 device::a2());
  };
  const schedules::Modelled without = modelled();
  p.sink = spec::SinkShape::per_head;
  const schedules::Modelled with = modelled();
  const auto busier = [&](device::Pipe pipe) {
    return with.share(pipe) * with.seconds > without.share(pipe) * without.seconds * 1.0001;
  };
  EXPECT_TRUE(busier(device::Pipe::vector));
  EXPECT_TRUE(busier(device::Pipe::mte3));
  EXPECT_FALSE(busier(device::Pipe::vector_mte2));
  EXPECT_GT(with.extra, without.extra);
  EXPECT_GT(with.seconds, without.seconds);
}

TEST(Schedules, CountChannelsAndElements) {
  Problem p = masked(3);
  p.dtype = spec::DType::fp32;
  p.head_dim = 128, p.head_dim_v = 64, p.head_dim_rope = 32;
  const auto attention = std::get<schedules::Attention>(attention_of(p));
  EXPECT_EQ(attention.channels(), 160);
  EXPECT_EQ(attention.channels_v(), 64);
  EXPECT_EQ(attention.element.count, 4);
}

}  // namespace
