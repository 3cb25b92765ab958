#include "assay/optimized/flash_attention_score_grad/traffic.hpp"

#include <gtest/gtest.h>

#include "../implementation_checks.hpp"
#include "assay/optimized/flash_attention_score_grad.hpp"
#include "oracle.hpp"

namespace {

using namespace assay;
using Problem = spec::FlashAttentionScoreGrad::Problem;
using optimized::Traffic;

Traffic planned(const Problem& p) {
  return optimized::traffic(p, optimized::plan(p, device::a2()));
}

/// Returns the memory traffic for one block of scores per query head, counted by hand. `key_tiles`
/// is the number of tiles of key and value that are read, including repeated reads.
Traffic of_one_block(const Problem& p, std::int64_t key_tiles) {
  const std::int64_t element = spec::size_of(p.dtype), heads = p.heads_q;
  const std::int64_t rows = p.seq_q * p.head_dim, scores = p.seq_q * p.seq_q;
  const std::int64_t statistics = p.seq_q * 8 * 4;
  const std::int64_t cube = 4 * rows * element + 2 * scores * element;  // query, dy; P and dS
  const std::int64_t vector = 2 * scores * 4 + 3 * statistics;
  const std::int64_t gradients = (heads + 2 * p.heads_kv) * rows;
  const std::int64_t row_terms = heads * 2 * rows * element, store = gradients * 4;
  Traffic all;
  all.read = {heads * (cube + vector) + key_tiles * rows * element + row_terms + store};
  const std::int64_t added = heads * 3 * rows * 4;  // added to the sums of dq, dk and dv
  all.written = {heads * (2 * scores * 4 + 2 * scores * element) + added +  //
                 gradients * 4 + heads * statistics + gradients * element};
  return all;
}

TEST(Traffic, OneBlockMovesWhatItsProductsReadAndWrite) {
  for (const auto& [heads_q, heads_kv] : {std::pair{1, 1}, {4, 2}}) {
    const Problem p = {.heads_q = heads_q,
                       .heads_kv = heads_kv,
                       .seq_q = 16,
                       .seq_kv = 16,
                       .head_dim = 64,
                       .head_dim_v = 64};
    ASSERT_TRUE(optimized::plan(p, device::a2()).keys_stay);
    EXPECT_EQ(planned(p), of_one_block(p, 2 * heads_kv)) << heads_q;  // key and value
  }
}

TEST(Traffic, ReadsKeysAgainThatDoNotStay) {
  const Problem p = {.dtype = spec::DType::fp32,
                     .heads_q = 2,
                     .heads_kv = 1,
                     .seq_q = 128,
                     .seq_kv = 128,
                     .head_dim = 512,
                     .head_dim_v = 512};
  ASSERT_FALSE(optimized::plan(p, device::a2()).keys_stay);
  EXPECT_EQ(planned(p),
            of_one_block(p, 3 * p.heads_q));  // two reads of key, one of value, for each query head
}

/// With these sizes there are only whole blocks, so every score is read exactly once.
TEST(Traffic, CountsBiasAndDropoutBits) {
  Problem p = {
      .heads_q = 3, .heads_kv = 3, .seq_q = 1024, .seq_kv = 512, .head_dim = 64, .head_dim_v = 64};
  const Traffic plain = planned(p);
  const std::int64_t scores = score_count(p);
  const auto more = [&](const Problem& with) {
    return planned(with).read.count - plain.read.count;
  };
  Problem biased = p;
  biased.pse_shift = spec::PseShape::bnss;
  EXPECT_EQ(more(biased), 2 * scores);
  biased.pse_shift = spec::PseShape::bn1s;
  EXPECT_GT(more(biased), 0);
  EXPECT_LT(more(biased), scores / 8);
  Problem sloped = p;
  sloped.pse_shift = spec::PseShape::slopes_n, sloped.pse_type = 2;
  EXPECT_LT(more(sloped), scores / 100);
  Problem dropped = p;
  dropped.keep_prob = 0.5, dropped.drop_mask = spec::DropMask::exact;
  EXPECT_EQ(more(dropped), scores / 8);
}

/// The additional traffic of a sink: each of the four key blocks of a head writes one number per
/// row. The last pass reads these numbers, and the maximum and the sum of each row, which are
/// stored 8 times. It also reads one sink per head, and writes one gradient per head.
TEST(Traffic, CountsTheSumsOfSinks) {
  Problem p = {
      .heads_q = 3, .heads_kv = 3, .seq_q = 512, .seq_kv = 512, .head_dim = 64, .head_dim_v = 64};
  const Traffic plain = planned(p);
  p.sink = spec::SinkShape::per_head;
  const Traffic with = planned(p);
  const std::int64_t rows = 3 * 512, heads = 3;
  EXPECT_EQ(with.read.count - plain.read.count, 4 * (rows * (1 + 2 * 8) + heads));
  EXPECT_EQ(with.written.count - plain.written.count, 4 * (rows + 4 * rows + heads));
}

TEST(Traffic, CountsRopeAsMoreChannels) {
  Problem p = {.input_layout = spec::Layout::tnd,
               .heads_q = 4,
               .heads_kv = 4,
               .seq_q = 4096,
               .seq_kv = 4096,
               .head_dim = 128,
               .head_dim_v = 128};
  const Traffic plain = planned(p);
  p.head_dim_rope = 64;
  const Traffic roped = planned(p);
  EXPECT_GT(roped.read, plain.read);
  EXPECT_GT(roped.written, plain.written);
}

TEST(Traffic, EqualSequencesMoveAsMuchAsABatch) {
  Problem p = {.input_layout = spec::Layout::bsnd,
               .batch = 5,
               .heads_q = 4,
               .heads_kv = 2,
               .seq_q = 700,
               .seq_kv = 900,
               .head_dim = 64,
               .head_dim_v = 64,
               .sparse_mode = 3,
               .atten_mask = spec::MaskShape::compressed};
  const Traffic batch = planned(p);
  p.input_layout = spec::Layout::tnd;
  p.lengths_q.assign(5, 700), p.lengths_kv.assign(5, 900);
  EXPECT_EQ(planned(p), batch);
}

/// The sums of rows are cleared, added to by every block, and read at the end: for each sequence
/// alone the same as in the pack. Only sink and dsink are not repeated.
TEST(Traffic, SinkOfAPackIsReadAsOftenAsInItsSequences) {
  Problem p = {.input_layout = spec::Layout::tnd,
               .batch = 2,
               .heads_q = 4,
               .heads_kv = 2,
               .seq_q = 512,
               .seq_kv = 768,
               .lengths_q = {512, 256},
               .lengths_kv = {768, 512},
               .head_dim = 64,
               .head_dim_v = 64};
  const auto of_sink = [](Problem problem) {
    const Traffic without = planned(problem);
    problem.sink = spec::SinkShape::per_head;
    const Traffic with = planned(problem);
    return Traffic{.read = {with.read.count - without.read.count},
                   .written = {with.written.count - without.written.count}};
  };
  const Traffic pack = of_sink(p);
  Traffic alone;
  for (std::size_t b = 0; b < 2; ++b) {
    Problem one = p;
    one.batch = 1;
    one.lengths_q = {p.lengths_q[b]}, one.lengths_kv = {p.lengths_kv[b]};
    one.seq_q = p.lengths_q[b], one.seq_kv = p.lengths_kv[b];
    alone += of_sink(one);
  }
  EXPECT_EQ(pack.read.count, alone.read.count - 4 * p.heads_q);
  EXPECT_EQ(pack.written.count, alone.written.count - 4 * p.heads_q);
}

TEST(Traffic, CausalProblemReadsAboutHalf) {
  Problem p = {.seq_q = 8192, .seq_kv = 8192, .head_dim = 128, .head_dim_v = 128};
  const auto full = static_cast<double>(planned(p).read.count);
  p.sparse_mode = 3, p.atten_mask = spec::MaskShape::compressed;
  const auto causal = static_cast<double>(planned(p).read.count);
  EXPECT_GT(causal / full, 0.50);
  EXPECT_LT(causal / full, 0.60);
}

TEST(Traffic, IsReportedByTheImplementationAfterARun) {
  const test::Example example = {.problem = {.seq_q = 30, .seq_kv = 20}};
  const auto implementation = optimized::flash_attention_score_grad(device::a2());
  const auto run = [&] {
    test::Op::Outputs outputs = test::outputs_of(example);
    implementation->run(example.problem, test::inputs_of(example), outputs);
  };
  test::expect_metrics(*implementation, run, 7, planned(example.problem));
}

TEST(CostTable, ChangesNoOutputBit) {
  const test::Example example = {.problem = {.heads_q = 2, .seq_q = 140, .seq_kv = 150}};
  const test::Op::Inputs inputs = test::inputs_of(example);
  test::Op::Outputs usual = test::outputs_of(example), slow = test::outputs_of(example);
  optimized::flash_attention_score_grad(device::a2())->run(example.problem, inputs, usual);
  optimized::flash_attention_score_grad(test::slower(device::a2()))
      ->run(example.problem, inputs, slow);
  EXPECT_EQ(usual.dq.bytes, slow.dq.bytes);
  EXPECT_EQ(usual.dk.bytes, slow.dk.bytes);
  EXPECT_EQ(usual.dv.bytes, slow.dv.bytes);
}

}  // namespace
