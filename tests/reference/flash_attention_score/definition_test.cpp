#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "../cases.hpp"
#include "assay/reference/flash_attention_score.hpp"

/// Tests softmax attention on hand-computed cases and on degenerate cases.
namespace assay::reference {
namespace {

using Row = AttentionRow<Quad>;

/// A causal problem with four queries of zeros and the values 1, 2, 3, 4.
struct Causal {
  Problem problem = [] {
    Problem p = one_head(4, 4, 1);
    p.sparse_mode = 2;
    p.atten_mask = spec::MaskShape::compressed;
    return p;
  }();
  Operands<Quad> operands = {.query = {0, 0, 0, 0}, .key = {5, 6, 7, 8}, .value = {1, 2, 3, 4}};
  spec::Tensor mask = spec::contiguous_tensor(spec::DType::boolean, {2048, 2048});
};

TEST(FlashAttentionScore, EqualScoresGiveCountsAndMeans) {
  const Causal causal;
  const FlashAttentionScore<Quad> attention(causal.problem, causal.operands,
                                            {.atten_mask = &causal.mask});
  for (std::int64_t i = 0; i < 4; ++i) {
    const Row row = attention.row(0, 0, i);
    EXPECT_EQ(row.softmax_max, 0);
    EXPECT_EQ(row.softmax_sum, i + 1);
    EXPECT_EQ(row.attention_out, std::vector<Quad>{Quad(1 + 0.5 * static_cast<double>(i))});
  }
}

TEST(FlashAttentionScore, DropoutChangesTheOutputAndNoStatistic) {
  Causal causal;
  causal.problem.keep_prob = 0.5;
  causal.problem.drop_mask = spec::DropMask::exact;
  const spec::Tensor bits = tensor_of(spec::DType::uint8, {2}, {0x55, 0x55});  // columns 0 and 2
  const FlashAttentionScore<Quad> attention(causal.problem, causal.operands,
                                            {.atten_mask = &causal.mask, .drop_mask = &bits});
  const Quad expected[] = {2, 1, Quad(8) / 3, 2};
  for (std::int64_t i = 0; i < 4; ++i) {
    const Row row = attention.row(0, 0, i);
    EXPECT_EQ(row.softmax_max, 0);
    EXPECT_EQ(row.softmax_sum, i + 1);
    EXPECT_LT(abs(Quad(row.attention_out[0] - expected[i])), Quad(1e-33));
  }
}

TEST(FlashAttentionScore, TwoScoresAgreeWithHandComputation) {
  // The scores are 0 and 0.5 * 2 * 3 = 3. So the sum of exponentials is l = 1 + e^-3, and the
  // output is Y = (7 e^-3 + 9) / l.
  Problem p = one_head(1, 2, 1);
  p.scale_value = 0.5;
  const FlashAttentionScore<Quad> attention(
      p, Operands<Quad>{.query = {2}, .key = {0, 3}, .value = {7, 9}}, {});
  const Row row = attention.row(0, 0, 0);
  const Quad small = exp(Quad(-3));
  EXPECT_EQ(row.softmax_max, 3);
  EXPECT_LT(abs(Quad(row.softmax_sum - (1 + small))), Quad(1e-33));
  EXPECT_LT(abs(Quad(row.attention_out[0] - (7 * small + 9) / (1 + small))), Quad(1e-32));
}

TEST(FlashAttentionScore, AFullyMaskedRowHasTheLargestStatisticsAndZeroOutput) {
  Problem p = one_head(2, 2, 1);
  p.atten_mask = spec::MaskShape::ss;
  const spec::Tensor mask = tensor_of(spec::DType::boolean, {2, 2}, {1, 1, 0, 1});
  const FlashAttentionScore<Quad> attention(
      p, Operands<Quad>{.query = {1, 1}, .key = {2, 3}, .value = {4, 5}}, {.atten_mask = &mask});
  const Row dead = attention.row(0, 0, 0), live = attention.row(0, 0, 1);
  EXPECT_EQ(dead.softmax_max, Quad(-largest_float));
  EXPECT_EQ(dead.softmax_sum, Quad(largest_float));
  EXPECT_EQ(dead.attention_out, std::vector<Quad>{0});
  EXPECT_EQ(live.softmax_max, 2);  // one kept key
  EXPECT_EQ(live.softmax_sum, 1);
  EXPECT_EQ(live.attention_out, std::vector<Quad>{4});
}

TEST(FlashAttentionScore, RowsOfASequenceWithoutKeysAreZero) {
  const auto expect_zero = [](const Row& row) {
    EXPECT_EQ(row.softmax_max, 0);
    EXPECT_EQ(row.softmax_sum, 0);
    EXPECT_EQ(row.attention_out, std::vector<Quad>{0});
  };
  const Problem packed = with_lengths(one_head(1, 1, 1), {2, 0, 1}, {0, 1, 2});
  const FlashAttentionScore<Quad> attention(
      packed, Operands<Quad>{.query = {1, 1, 1}, .key = {2, 3, 4}, .value = {4, 5, 6}}, {});
  expect_zero(attention.row(0, 0, 1));
  EXPECT_EQ(attention.row(2, 0, 0).softmax_max, 4);
  const FlashAttentionScore<Quad> dense(one_head(1, 0, 1), Operands<Quad>{.query = {1}}, {});
  expect_zero(dense.row(0, 0, 0));
}

TEST(FlashAttentionScore, BitsOfZeroDropEverythingAndAreIgnoredWithoutDropout) {
  Problem p = one_head(1, 2, 1);
  p.drop_mask = spec::DropMask::exact;
  const spec::Tensor none = tensor_of(spec::DType::uint8, {1}, {0});
  const Operands<Quad> operands{.query = {1}, .key = {2, 2}, .value = {4, 6}};
  EXPECT_EQ(FlashAttentionScore<Quad>(p, operands, {.drop_mask = &none}).row(0, 0, 0).attention_out,
            std::vector<Quad>{5});
  p.keep_prob = 0.5;
  const Row dropped = FlashAttentionScore<Quad>(p, operands, {.drop_mask = &none}).row(0, 0, 0);
  EXPECT_EQ(dropped.attention_out, std::vector<Quad>{0});
  EXPECT_EQ(dropped.softmax_max, 2);
  EXPECT_EQ(dropped.softmax_sum, 2);
}

TEST(FlashAttentionScore, ScaleZeroGivesTheMeanOfTheValues) {
  Problem p = one_head(1, 4, 1);
  p.scale_value = 0;
  const Row row =
      FlashAttentionScore<Quad>(
          p, Operands<Quad>{.query = {9}, .key = {1, -2, 3, -4}, .value = {1, 2, 3, 6}}, {})
          .row(0, 0, 0);
  EXPECT_EQ(row.softmax_max, 0);
  EXPECT_EQ(row.softmax_sum, 4);
  EXPECT_EQ(row.attention_out, std::vector<Quad>{3});
}

TEST(FlashAttentionScore, WithoutAMaskModeAndTokensChangeNothing) {
  Problem p = one_head(3, 3, 1);
  const Operands<Quad> operands{.query = {1, 2, 3}, .key = {1, 0, 2}, .value = {1, 2, 4}};
  const Row expected = FlashAttentionScore<Quad>(p, operands, {}).row(0, 0, 0);
  p.sparse_mode = 4;
  p.pre_tokens = p.next_tokens = 0;
  const Row row = FlashAttentionScore<Quad>(p, operands, {}).row(0, 0, 0);
  EXPECT_EQ(row.softmax_sum, expected.softmax_sum);
  EXPECT_EQ(row.attention_out, expected.attention_out);
}

TEST(FlashAttentionScore, AMaskedScoreSpreadsNoNaN) {
  Problem p = one_head(1, 2, 1);
  p.atten_mask = spec::MaskShape::ss;
  const spec::Tensor mask = tensor_of(spec::DType::boolean, {1, 2}, {1, 0});
  const Quad nan = std::numeric_limits<Quad>::quiet_NaN();
  const Row row =
      FlashAttentionScore<Quad>(p, Operands<Quad>{.query = {1}, .key = {nan, 3}, .value = {4, 5}},
                                {.atten_mask = &mask})
          .row(0, 0, 0);
  EXPECT_EQ(row.softmax_max, 3);
  EXPECT_EQ(row.attention_out, std::vector<Quad>{5});
}

/// Each element of the tensor contains the number of its row in memory, so the result shows which
/// row of memory each query row reads.
TEST(FlashAttentionScore, StatisticsOfTwoSequencesHaveTheirPlacesInMemory) {
  Problem p = with_lengths(one_head(1, 1, 1), {2, 1}, {1, 1});
  p.heads_q = 2;
  spec::Tensor tensor = spec::contiguous_tensor(spec::DType::fp32, spec::statistics_shape(p));
  for (std::int64_t k = 0; k < spec::element_count(tensor.shape); ++k)
    tensor.store(k, static_cast<double>(k / 8));
  // The expected values are for the rows (b, n, i) in this order: (0,0,0) (0,0,1) (0,1,0) (0,1,1)
  // (1,0,0) (1,1,0)
  p.statistics_order = spec::StatisticsOrder::heads_first;
  EXPECT_EQ(statistics_of<double>(tensor, p), (std::vector<double>{0, 1, 2, 3, 4, 5}));
  p.statistics_order = spec::StatisticsOrder::tokens_first;
  EXPECT_EQ(statistics_of<double>(tensor, p), (std::vector<double>{0, 2, 1, 3, 4, 5}));
}

}  // namespace
}  // namespace assay::reference
