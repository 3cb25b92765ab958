#include "assay/reference/flash_attention_score_grad.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "cases.hpp"

namespace assay::reference {
namespace {

/// One head, one query, head_dim 1.
Problem one_query(std::int64_t keys, double scale) {
  Problem p;
  p.seq_q = 1;
  p.seq_kv = keys;
  p.head_dim = p.head_dim_v = 1;
  p.scale_value = scale;
  return p;
}

TEST(FlashAttentionScoreGrad, OneKeyGivesDvEqualToDyAndNoDqNoDk) {
  Problem p = one_query(1, 0.5);
  p.head_dim = p.head_dim_v = 4;
  const std::vector<Quad> value(4, 5), dy(4, 7), query(4, 2), key(4, 3);
  const FlashAttentionScoreGrad<Quad> gradient(p,
                                               {.query = query, .key = key, .value = value,
                                                .dy = dy, .softmax_max = {12}, .softmax_sum = {1},
                                                .attention_in = value},
                                               nullptr);
  EXPECT_EQ(gradient.dkv_row(0, 0, 0).dv, dy);
  EXPECT_EQ(gradient.dkv_row(0, 0, 0).dk, std::vector<Quad>(4, 0));
  EXPECT_EQ(gradient.dq_row(0, 0, 0), std::vector<Quad>(4, 0));
}

TEST(FlashAttentionScoreGrad, TwoKeysOfEqualScoreAgreeWithPencilAndPaper) {
  // Scores 0, so P = 1/2, 1/2. Output 2, dP = 2, 6, row term 4, dS = -1, 1.
  const FlashAttentionScoreGrad<Quad> gradient(one_query(2, 0.5),
                                               {.query = {0}, .key = {5, 8}, .value = {1, 3},
                                                .dy = {2}, .softmax_max = {0}, .softmax_sum = {2},
                                                .attention_in = {2}},
                                               nullptr);
  EXPECT_EQ(gradient.dq_row(0, 0, 0)[0], Quad(1.5));  // 0.5 (8 - 5)
  EXPECT_EQ(gradient.dkv_row(0, 0, 0).dv[0], 1);
  EXPECT_EQ(gradient.dkv_row(0, 0, 1).dv[0], 1);
  EXPECT_EQ(gradient.dkv_row(0, 0, 0).dk[0], 0);
}

TEST(FlashAttentionScoreGrad, TwoEqualKeysAgreeWithPencilAndPaper) {
  // Scores 3 = 0.5 * 2 * 3, P = 1/2, 1/2, dS = -1, 1 as above.
  const FlashAttentionScoreGrad<Quad> gradient(one_query(2, 0.5),
                                               {.query = {2}, .key = {3, 3}, .value = {1, 3},
                                                .dy = {2}, .softmax_max = {3}, .softmax_sum = {2},
                                                .attention_in = {2}},
                                               nullptr);
  EXPECT_EQ(gradient.dq_row(0, 0, 0)[0], 0);
  EXPECT_EQ(gradient.dkv_row(0, 0, 0).dk[0], -1);  // 0.5 * -1 * 2
  EXPECT_EQ(gradient.dkv_row(0, 0, 1).dk[0], 1);
  const Pair<Quad> pair = gradient.pair(0, 0, 0, 1);
  EXPECT_EQ(pair.score, 3);
  EXPECT_EQ(pair.prob, Quad(0.5));
  EXPECT_EQ(pair.dprob, 6);
  EXPECT_EQ(pair.dscore, 1);
}

TEST(FlashAttentionScoreGrad, ReadsStatisticsAndAttentionInAndRecomputesNeither) {
  // As above, but a sum of 4 halves P, and attention_in 0 removes the row term: dS = 1/4 * 2, 1/4 * 6.
  const FlashAttentionScoreGrad<double> gradient(one_query(2, 0.5),
                                                 {.query = {2}, .key = {3, 3}, .value = {1, 3},
                                                  .dy = {2}, .softmax_max = {3}, .softmax_sum = {4},
                                                  .attention_in = {0}},
                                                 nullptr);
  EXPECT_EQ(gradient.pair(0, 0, 0, 0).dscore, 0.5);
  EXPECT_EQ(gradient.pair(0, 0, 0, 1).dscore, 1.5);
  EXPECT_EQ(gradient.dkv_row(0, 0, 0).dv[0], 0.5);
}

TEST(FlashAttentionScoreGrad, RoundsTheScaleToFloat) {
  const FlashAttentionScoreGrad<Fifty> gradient(one_query(1, 0.1),
                                                {.query = {1}, .key = {1}, .value = {1}, .dy = {1},
                                                 .softmax_max = {0}, .softmax_sum = {1},
                                                 .attention_in = {0}},
                                                nullptr);
  EXPECT_EQ(gradient.pair(0, 0, 0, 0).score, Fifty(0.1f));
}

TEST(FlashAttentionScoreGrad, AMaskedKeyOfNaNReachesNoOtherElement) {
  Problem p = one_query(2, 1.0);
  p.sparse_mode = 2;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const spec::Tensor mask = spec::contiguous_tensor(spec::DType::boolean, {2048, 2048});
  const FlashAttentionScoreGrad<double> gradient(p,
                                                 {.query = {2}, .key = {3, nan}, .value = {1, nan},
                                                  .dy = {2}, .softmax_max = {6}, .softmax_sum = {1},
                                                  .attention_in = {0}},
                                                 &mask);
  EXPECT_EQ(gradient.dq_row(0, 0, 0)[0], 6.0);
  EXPECT_EQ(gradient.pair(0, 0, 0, 1).prob, 0.0);
  EXPECT_EQ(gradient.dkv_row(0, 0, 1).dk[0], 0.0);
  EXPECT_EQ(gradient.dkv_row(0, 0, 1).dv[0], 0.0);
}

TEST(FlashAttentionScoreGrad, AQueryWithoutKeptKeyHasZeroDqAndDeadStatistics) {
  Problem p = one_query(1, 1.0);
  p.seq_q = 3;
  p.sparse_mode = 3;
  p.atten_mask = spec::MaskShape::compressed;
  const auto mask = make_mask(p);
  const auto operands = consistent_operands<Quad>(p, pointer(mask));
  constexpr float largest = std::numeric_limits<float>::max();
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(operands.softmax_max[i], Quad(-largest));
    EXPECT_EQ(operands.softmax_sum[i], Quad(largest));
    EXPECT_EQ(operands.attention_in[i], 0);
  }
  EXPECT_EQ(operands.softmax_sum[2], 1);
  const FlashAttentionScoreGrad<Quad> gradient(p, operands, pointer(mask));
  EXPECT_EQ(gradient.dq_row(0, 0, 0)[0], 0);
  EXPECT_EQ(gradient.dkv_row(0, 0, 0).dv[0], operands.dy[2]);
}

class Relations : public testing::TestWithParam<NamedProblem> {};
INSTANTIATE_TEST_SUITE_P(Small, Relations, testing::ValuesIn(small_problems()),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(Relations, ZeroDyGivesZeroGradients) {
  const Problem& p = GetParam().problem;
  const auto mask = make_mask(p);
  auto operands = consistent_operands<double>(p, pointer(mask));
  operands.dy.assign(operands.dy.size(), 0.0);
  const auto all = all_rows(p, FlashAttentionScoreGrad<double>(p, operands, pointer(mask)));
  EXPECT_EQ(largest_magnitude(all.dq), 0.0);
  EXPECT_EQ(largest_magnitude(all.dk), 0.0);
  EXPECT_EQ(largest_magnitude(all.dv), 0.0);
}

TEST_P(Relations, ZeroScaleGivesZeroDqAndDkAndUniformProbabilities) {
  Problem p = GetParam().problem;
  p.scale_value = 0.0;
  const auto mask = make_mask(p);
  const auto operands = consistent_operands<double>(p, pointer(mask));
  const FlashAttentionScoreGrad<double> gradient(p, operands, pointer(mask));
  const auto all = all_rows(p, gradient);
  EXPECT_EQ(largest_magnitude(all.dq), 0.0);
  EXPECT_EQ(largest_magnitude(all.dk), 0.0);
  EXPECT_GT(largest_magnitude(all.dv), 0.0);
  for (std::int64_t j = 0; j < p.seq_kv; ++j)
    EXPECT_TRUE(gradient.pair(0, 0, 0, j).prob == 0.0 ||
                gradient.pair(0, 0, 0, j).prob == 1.0 / operands.softmax_sum[0]);
}

/// Every key and value head repeated for each query head of its group.
Operands<Quad> ungrouped(const Problem& p, Operands<Quad> operands) {
  const auto repeat = [&](const std::vector<Quad>& heads) {
    const auto size = static_cast<std::ptrdiff_t>(heads.size()) / (p.batch * p.heads_kv);
    std::vector<Quad> repeated;
    for (std::int64_t head = 0; head < p.batch * p.heads_kv; ++head)
      for (std::int64_t copy = 0; copy < p.group(); ++copy)
        repeated.insert(repeated.end(), heads.begin() + head * size,
                        heads.begin() + (head + 1) * size);
    return repeated;
  };
  operands.key = repeat(operands.key);
  operands.value = repeat(operands.value);
  return operands;
}

/// The largest difference between a gradient of a group and the sum of the gradients of its repeated heads.
Quad difference_of_sums(const Problem& p, const std::vector<Quad>& grouped,
                        const std::vector<Quad>& repeated) {
  const std::size_t size = grouped.size() / static_cast<std::size_t>(p.batch * p.heads_kv);
  const auto group = static_cast<std::size_t>(p.group());
  std::vector<Quad> differences;
  for (std::size_t k = 0; k < grouped.size(); ++k) {
    Quad sum = 0;
    for (std::size_t copy = 0; copy < group; ++copy)
      sum += repeated[(k / size * group + copy) * size + k % size];
    differences.push_back(grouped[k] - sum);
  }
  return largest_magnitude(differences);
}

TEST_P(Relations, GroupedHeadsEqualTheSumOverRepeatedHeads) {
  const Problem& p = GetParam().problem;
  const auto mask = make_mask(p);
  const auto operands = consistent_operands<Quad>(p, pointer(mask));
  Problem repeated = p;
  repeated.heads_kv = p.heads_q;
  const auto all = all_rows(p, FlashAttentionScoreGrad<Quad>(p, operands, pointer(mask)));
  const auto heads = all_rows(
      repeated, FlashAttentionScoreGrad<Quad>(repeated, ungrouped(p, operands), pointer(mask)));
  EXPECT_EQ(all.dq, heads.dq);
  EXPECT_LT(difference_of_sums(p, all.dk, heads.dk), Quad(1e-32));
  EXPECT_LT(difference_of_sums(p, all.dv, heads.dv), Quad(1e-32));
}

TEST_P(Relations, LayoutsAndStridesDoNotChangeABit) {
  Problem p = GetParam().problem;
  p.dtype = spec::DType::bf16;
  const Inputs contiguous = make_inputs(p, spec::Striding::contiguous);
  const auto expected = all_rows(p, FlashAttentionScoreGrad<double>::from(p, contiguous));
  EXPECT_GT(largest_magnitude(expected.dq), 0.0);
  for (const auto& [layout, layout_name] : spec::spellings_of<spec::Layout>.entries)
    for (const auto& [striding, striding_name] : spec::spellings_of<spec::Striding>.entries) {
      p.input_layout = layout;
      const Inputs inputs = make_inputs(p, striding);
      const auto all = all_rows(p, FlashAttentionScoreGrad<double>::from(p, inputs));
      EXPECT_EQ(all.dq, expected.dq) << layout_name << ' ' << striding_name;
      EXPECT_EQ(all.dk, expected.dk) << layout_name << ' ' << striding_name;
      EXPECT_EQ(all.dv, expected.dv) << layout_name << ' ' << striding_name;
    }
}

TEST(FlashAttentionScoreGrad, OperandsKeptAsFloatGiveTheSameBits) {
  Problem p;
  p.dtype = spec::DType::fp32;
  p.seq_q = 2;
  p.seq_kv = 1100;
  p.head_dim = p.head_dim_v = 256;  // more elements than `from` converts at once
  p.scale_value = 0.0625;
  const Inputs inputs = make_inputs(p, spec::Striding::contiguous);
  const auto from = FlashAttentionScoreGrad<double>::from(p, inputs);
  const FlashAttentionScoreGrad<double> constructed(p, operands_of<double>(p, inputs), nullptr);
  EXPECT_EQ(from.dq_row(0, 0, 1), constructed.dq_row(0, 0, 1));
  EXPECT_EQ(from.dkv_row(0, 0, 1099).dk, constructed.dkv_row(0, 0, 1099).dk);
  EXPECT_EQ(from.dkv_row(0, 0, 1099).dv, constructed.dkv_row(0, 0, 1099).dv);
}

TEST(FlashAttentionScoreGrad, RefusesATensorOfAnotherShape) {
  Problem p;
  const Inputs inputs = make_inputs(p, spec::Striding::contiguous);
  p.seq_kv = 17;
  EXPECT_THROW(FlashAttentionScoreGrad<double>::from(p, inputs), std::invalid_argument);
}

}  // namespace
}  // namespace assay::reference
