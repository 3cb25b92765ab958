#include <gtest/gtest.h>

#include <limits>

#include "../cases.hpp"
#include "assay/reference/flash_attention_score_grad.hpp"

namespace assay::reference {
namespace {

TEST(FlashAttentionScoreGrad, OneKeyGivesDvEqualToDyAndNoDqNoDk) {
  Problem p = one_head(1, 1, 0.5);
  p.head_dim = p.head_dim_v = 4;
  const std::vector<Quad> value(4, 5), dy(4, 7), query(4, 2), key(4, 3);
  const FlashAttentionScoreGrad<Quad> gradient(p,
                                               {.query = query,
                                                .key = key,
                                                .value = value,
                                                .dy = dy,
                                                .softmax_max = {12},
                                                .softmax_sum = {1},
                                                .attention_in = value},
                                               {});
  EXPECT_EQ(gradient.dkv_row(0, 0, 0).dv, dy);
  EXPECT_EQ(gradient.dkv_row(0, 0, 0).dk, std::vector<Quad>(4, 0));
  EXPECT_EQ(gradient.dq_row(0, 0, 0).dq, std::vector<Quad>(4, 0));
}

TEST(FlashAttentionScoreGrad, TwoKeysOfEqualScoreAgreeWithHandComputation) {
  // Computed by hand: the scores are 0, so P = 1/2, 1/2. The output is 2, dP = 2, 6, the row term
  // is 4, and dS = -1, 1.
  const FlashAttentionScoreGrad<Quad> gradient(one_head(1, 2, 0.5),
                                               {.query = {0},
                                                .key = {5, 8},
                                                .value = {1, 3},
                                                .dy = {2},
                                                .softmax_max = {0},
                                                .softmax_sum = {2},
                                                .attention_in = {2}},
                                               {});
  EXPECT_EQ(gradient.dq_row(0, 0, 0).dq[0], Quad(1.5));  // 0.5 (8 - 5)
  EXPECT_EQ(gradient.dkv_row(0, 0, 0).dv[0], 1);
  EXPECT_EQ(gradient.dkv_row(0, 0, 1).dv[0], 1);
  EXPECT_EQ(gradient.dkv_row(0, 0, 0).dk[0], 0);
}

TEST(FlashAttentionScoreGrad, TwoEqualKeysAgreeWithHandComputation) {
  // Computed by hand: the scores are 3 = 0.5 * 2 * 3, so P = 1/2, 1/2. The output is 2, dP = 2, 6,
  // the row term is 4, and dS = -1, 1.
  const FlashAttentionScoreGrad<Quad> gradient(one_head(1, 2, 0.5),
                                               {.query = {2},
                                                .key = {3, 3},
                                                .value = {1, 3},
                                                .dy = {2},
                                                .softmax_max = {3},
                                                .softmax_sum = {2},
                                                .attention_in = {2}},
                                               {});
  EXPECT_EQ(gradient.dq_row(0, 0, 0).dq[0], 0);
  EXPECT_EQ(gradient.dkv_row(0, 0, 0).dk[0], -1);  // 0.5 * -1 * 2
  EXPECT_EQ(gradient.dkv_row(0, 0, 1).dk[0], 1);
  const Pair<Quad> pair = gradient.pair(0, 0, 0, 1);
  EXPECT_EQ(pair.score, 3);
  EXPECT_EQ(pair.prob, Quad(0.5));
  EXPECT_EQ(pair.dprob, 6);
  EXPECT_EQ(pair.dscore, 1);
}

TEST(FlashAttentionScoreGrad, ReadsStatisticsAndAttentionInAndRecomputesNeither) {
  // The same call with two changes: the sum is 4, which halves P, and attention_in is 0, which
  // removes the row term. So dS = 1/4 * 2, 1/4 * 6.
  const FlashAttentionScoreGrad<double> gradient(one_head(1, 2, 0.5),
                                                 {.query = {2},
                                                  .key = {3, 3},
                                                  .value = {1, 3},
                                                  .dy = {2},
                                                  .softmax_max = {3},
                                                  .softmax_sum = {4},
                                                  .attention_in = {0}},
                                                 {});
  EXPECT_EQ(gradient.pair(0, 0, 0, 0).dscore, 0.5);
  EXPECT_EQ(gradient.pair(0, 0, 0, 1).dscore, 1.5);
  EXPECT_EQ(gradient.dkv_row(0, 0, 0).dv[0], 0.5);
}

TEST(FlashAttentionScoreGrad, RoundsTheScaleToFloat) {
  const FlashAttentionScoreGrad<Fifty> gradient(one_head(1, 1, 0.1),
                                                {.query = {1},
                                                 .key = {1},
                                                 .value = {1},
                                                 .dy = {1},
                                                 .softmax_max = {0},
                                                 .softmax_sum = {1},
                                                 .attention_in = {0}},
                                                {});
  EXPECT_EQ(gradient.pair(0, 0, 0, 0).score, Fifty(0.1f));
}

TEST(FlashAttentionScoreGrad, AMaskedKeyOfNaNReachesNoOtherElement) {
  Problem p = one_head(1, 2, 1.0);
  p.sparse_mode = 2;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const spec::Tensor mask = spec::contiguous_tensor(spec::DType::boolean, {2048, 2048});
  const FlashAttentionScoreGrad<double> gradient(p,
                                                 {.query = {2},
                                                  .key = {3, nan},
                                                  .value = {1, nan},
                                                  .dy = {2},
                                                  .softmax_max = {6},
                                                  .softmax_sum = {1},
                                                  .attention_in = {0}},
                                                 {.atten_mask = &mask});
  EXPECT_EQ(gradient.dq_row(0, 0, 0).dq[0], 6.0);
  EXPECT_EQ(gradient.pair(0, 0, 0, 1).prob, 0.0);
  EXPECT_EQ(gradient.dkv_row(0, 0, 1).dk[0], 0.0);
  EXPECT_EQ(gradient.dkv_row(0, 0, 1).dv[0], 0.0);
}

TEST(FlashAttentionScoreGrad, FullyMaskedQueryHasZeroDqAndMaskedStatistics) {
  Problem p = one_head(1, 1, 1.0);
  p.seq_q = 3;
  p.sparse_mode = 3;
  p.atten_mask = spec::MaskShape::compressed;
  const OwnedSides sides = make_sides(p);
  const auto operands = consistent_operands<Quad>(p, sides.refer());
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(operands.softmax_max[i], Quad(-largest_float));
    EXPECT_EQ(operands.softmax_sum[i], Quad(largest_float));
    EXPECT_EQ(operands.attention_in[i], 0);
  }
  EXPECT_EQ(operands.softmax_sum[2], 1);
  const FlashAttentionScoreGrad<Quad> gradient(p, operands, sides.refer());
  EXPECT_EQ(gradient.dq_row(0, 0, 0).dq[0], 0);
  EXPECT_EQ(gradient.dkv_row(0, 0, 0).dv[0], operands.dy[2]);
}

TEST(FlashAttentionScoreGrad, RowsReadFromLargeTensorsGiveTheSameBits) {
  Problem p;
  p.dtype = spec::DType::fp32;
  p.seq_q = 2;
  p.seq_kv = 8300;
  p.head_dim = 256, p.head_dim_v = 8;  // more elements of keys than `from` copies
  p.head_dim_rope = 4;
  p.scale_value = 0.0625;
  const Inputs inputs = make_inputs(p, spec::Striding::contiguous);
  const auto from = FlashAttentionScoreGrad<double>::from(p, inputs);
  const FlashAttentionScoreGrad<double> constructed(p, operands_of<double>(p, inputs), {});
  EXPECT_EQ(from.dq_row(0, 0, 1).dq, constructed.dq_row(0, 0, 1).dq);
  EXPECT_EQ(from.dq_row(0, 0, 1).dq_rope, constructed.dq_row(0, 0, 1).dq_rope);
  EXPECT_EQ(from.dkv_row(0, 0, 8299).dk, constructed.dkv_row(0, 0, 8299).dk);
  EXPECT_EQ(from.dkv_row(0, 0, 8299).dv, constructed.dkv_row(0, 0, 8299).dv);
}

TEST(FlashAttentionScoreGrad, RefusesATensorOfAnotherShape) {
  Problem p;
  const Inputs inputs = make_inputs(p, spec::Striding::contiguous);
  p.seq_kv = 17;
  EXPECT_THROW(FlashAttentionScoreGrad<double>::from(p, inputs), std::invalid_argument);
}

}  // namespace
}  // namespace assay::reference
