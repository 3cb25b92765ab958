#include <gtest/gtest.h>

#include "../cases.hpp"
#include "assay/reference/flash_attention_score.hpp"
#include "assay/reference/flash_attention_score_grad.hpp"

namespace assay::reference {
namespace {

/// A problem with one head of size 1 and a sink.
Problem one_head_with_sink(std::int64_t queries, std::int64_t keys) {
  Problem p = one_head(queries, keys, 0.5);
  p.sink = spec::SinkShape::per_head;
  return p;
}

/// Adds the statistics and the output of the forward pass to the operands.
template <class Real>
Operands<Real> completed(const Problem& p, Operands<Real> operands, const SideInputs& side) {
  const Forward<Real> results = forward(p, operands, side);
  operands.softmax_max = results.softmax_max;
  operands.softmax_sum = results.softmax_sum;
  operands.attention_in = results.attention_out;
  return operands;
}

TEST(Sink, ThreeEqualScoresAgreeWithHandComputation) {
  // Computed by hand: the scores and the sink are 0, so P = 1/4 for each, the output is 6/4, dP =
  // 2, 4, 6, and the row term is 3. dsink = -1/4 (1/4 (2 + 4 + 6)).
  const Problem p = one_head_with_sink(1, 3);
  const auto operands = completed<Quad>(
      p, {.query = {0}, .key = {5, 8, 1}, .value = {1, 2, 3}, .dy = {2}, .sink = {0}}, {});
  EXPECT_EQ(operands.softmax_max[0], 0);
  EXPECT_EQ(operands.softmax_sum[0], 4);
  EXPECT_EQ(operands.attention_in[0], Quad(1.5));
  const FlashAttentionScoreGrad<Quad> gradient(p, operands, {});
  EXPECT_EQ(gradient.row_term(0, 0, 0), 3);
  EXPECT_EQ(gradient.pair(0, 0, 0, 0).dscore, Quad(-0.25));
  EXPECT_EQ(gradient.pair(0, 0, 0, 1).dscore, Quad(0.25));
  EXPECT_EQ(gradient.pair(0, 0, 0, 2).dscore, Quad(0.75));
  EXPECT_EQ(gradient.dsink(0), Quad(-0.75));
}

TEST(Sink, OneKeyWithTheScoreOfTheSinkHasHalfTheProbability) {
  const Problem p = one_head_with_sink(1, 1);  // the score is 0.5 * 2 * 3
  const auto operands =
      completed<Quad>(p, {.query = {2}, .key = {3}, .value = {7}, .dy = {5}, .sink = {3}}, {});
  EXPECT_EQ(operands.softmax_sum[0], 2);
  EXPECT_EQ((FlashAttentionScoreGrad<Quad>(p, operands, {}).dsink(0)), Quad(-35) / 4);
}

TEST(Sink, IsInTheGivenStatisticsAndNotAddedAgain) {
  // The call of the first test, but with the given sum 8. This halves P and the probability of the
  // sink.
  const Problem p = one_head_with_sink(1, 3);
  auto operands = completed<Quad>(
      p, {.query = {0}, .key = {5, 8, 1}, .value = {1, 2, 3}, .dy = {2}, .sink = {0}}, {});
  operands.softmax_sum = {8};
  EXPECT_EQ((FlashAttentionScoreGrad<Quad>(p, operands, {}).dsink(0)), Quad(-0.75) / 4);
}

TEST(Sink, FullyMaskedRowHasTheProbabilityOfTheSinkOnly) {
  Problem p = one_head_with_sink(2, 1);  // mode 3: the first query is above the only key
  p.sparse_mode = 3;
  p.atten_mask = spec::MaskShape::compressed;
  const OwnedSides sides = make_sides(p);
  const auto operands = completed<Quad>(
      p, {.query = {2, 2}, .key = {3}, .value = {7}, .dy = {5, 5}, .sink = {4}}, sides.refer());
  EXPECT_EQ(operands.softmax_max[0], 4);
  EXPECT_EQ(operands.softmax_sum[0], 1);
  EXPECT_EQ(operands.attention_in[0], 0);
  const FlashAttentionScoreGrad<Quad> gradient(p, operands, sides.refer());
  EXPECT_EQ(gradient.dq_row(0, 0, 0).dq[0], 0);
  // Only the second query adds to dsink. The variable e is exp(-1). The probability of the sink is
  // 1 / (1 + e), and P = e / (1 + e).
  const Quad e = exp(Quad(-1)), sum = 1 + e;
  EXPECT_LT(abs(Quad(gradient.dsink(0) + 35 * e / (sum * sum))), Quad(1e-30));
}

TEST(Sink, GradientIsZeroForZeroDyAndForASinkFarBelowTheScores) {
  const Problem p = one_head_with_sink(1, 3);
  Operands<Quad> operands = {
      .query = {2}, .key = {5, 8, 1}, .value = {1, 2, 3}, .dy = {0}, .sink = {0}};
  EXPECT_EQ((FlashAttentionScoreGrad<Quad>(p, completed<Quad>(p, operands, {}), {}).dsink(0)), 0);
  operands.dy = {1}, operands.sink = {-1000};
  const auto with = completed<Quad>(p, operands, {});
  EXPECT_LT(abs((FlashAttentionScoreGrad<Quad>(p, with, {}).dsink(0))), Quad(1e-300));
  Problem without = p;
  without.sink = spec::SinkShape::absent;
  EXPECT_EQ(with.softmax_sum, completed<Quad>(without, operands, {}).softmax_sum);
}

TEST(Sink, GradientAgreesWithCentralDifferences) {
  Problem p = {.batch = 2,
               .heads_q = 4,
               .heads_kv = 2,
               .seq_q = 5,
               .seq_kv = 6,
               .head_dim = 4,
               .head_dim_v = 3,
               .scale_value = 0.75,
               .keep_prob = 0.5,
               .drop_mask = spec::DropMask::exact,
               .sparse_mode = 0,
               .atten_mask = spec::MaskShape::ss,
               .pse_shift = spec::PseShape::bnss,
               .sink = spec::SinkShape::per_head};
  const OwnedSides sides = make_sides(p);
  Problem without = p;
  without.sink = spec::SinkShape::absent;
  Operands<Fifty> operands = consistent_operands<Fifty>(without, sides.refer());
  operands.sink = {Fifty(-1), Fifty(0.5), Fifty(2), Fifty(30)};
  operands = completed(p, std::move(operands), sides.refer());
  const auto loss = [&](std::size_t n, const Fifty& step) {
    Operands<Fifty> moved = operands;
    moved.sink[n] += step;
    const auto output = forward(p, moved, sides.refer()).attention_out;
    Fifty sum(0);
    for (std::size_t k = 0; k < output.size(); ++k) sum += output[k] * operands.dy[k];
    return sum;
  };
  const FlashAttentionScoreGrad<Fifty> gradient(p, operands, sides.refer());
  const Fifty step(1e-12);
  for (std::size_t n = 0; n < 4; ++n) {
    const Fifty difference = (loss(n, step) - loss(n, -step)) / (2 * step);
    const Fifty exact = gradient.dsink(static_cast<std::int64_t>(n));
    EXPECT_NE(exact, 0) << n;
    EXPECT_LT(abs(Fifty(difference - exact)), abs(exact) * Fifty(1e-18)) << n;
  }
}

}  // namespace
}  // namespace assay::reference
