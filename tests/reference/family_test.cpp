#include <gtest/gtest.h>

#include "cases.hpp"

namespace assay::reference {
namespace {

/// Returns operands with two keys. The product of the query with each key is 6.
Operands<Quad> two_keys() {
  return {.query = {2},
          .key = {3, 3},
          .value = {1, 3},
          .dy = {2},
          .softmax_max = {3},
          .softmax_sum = {2},
          .attention_in = {2}};
}

TEST(Family, BiasIsAddedBeforeTheScaleInTypeOneAndAfterItInTypeZero) {
  Problem p = one_head(1, 2, 0.5);
  p.pse_shift = spec::PseShape::bnss;
  const spec::Tensor pse = tensor_of(spec::DType::fp32, {1, 1, 1, 2}, {4, -2});
  const auto score = [&](std::int64_t j) {
    return FlashAttentionScoreGrad<Quad>(p, two_keys(), {.pse_shift = &pse}).pair(0, 0, 0, j).score;
  };
  EXPECT_EQ(score(0), 5);  // 0.5 (6 + 4)
  EXPECT_EQ(score(1), 2);
  p.pse_type = 0;
  EXPECT_EQ(score(0), 7);  // 0.5 * 6 + 4
  EXPECT_EQ(score(1), 1);
}

TEST(Family, SlopesLowerTheScoresOfDistantKeys) {
  Problem p = one_head(1, 5, 0.5);
  p.pse_shift = spec::PseShape::slopes_n;
  Operands<Quad> operands = two_keys();
  operands.key.assign(5, 3);
  operands.value.assign(5, 1);
  const spec::Tensor slope = tensor_of(spec::DType::fp32, {1}, {0.25});
  const auto score = [&](std::int64_t type) {
    p.pse_type = type;
    return FlashAttentionScoreGrad<Quad>(p, operands, {.pse_shift = &slope}).pair(0, 0, 0, 4).score;
  };
  EXPECT_EQ(score(2), 2);          // 3 - 0.25 * 4
  EXPECT_EQ(score(3), Quad(2.5));  // 3 - 0.25 * 2
}

TEST(Family, DropoutDividesWhatItKeepsAndLeavesTheRowTerm) {
  Problem p = one_head(1, 2, 0.5);
  p.keep_prob = 0.5;
  p.drop_mask = spec::DropMask::exact;
  const spec::Tensor second = tensor_of(spec::DType::uint8, {1}, {2});
  const FlashAttentionScoreGrad<Quad> gradient(p, two_keys(), {.drop_mask = &second});
  // P is 1/2 and 1/2. The row term is 4, and dP is 0 and 2 * 6, so dS = -2 and 4.
  const Pair<Quad> dropped = gradient.pair(0, 0, 0, 0), kept = gradient.pair(0, 0, 0, 1);
  EXPECT_EQ(dropped.prob, Quad(0.5));
  EXPECT_EQ(dropped.dropped, 0);
  EXPECT_EQ(dropped.dprob, 0);
  EXPECT_EQ(dropped.dscore, -2);
  EXPECT_EQ(kept.dropped, 1);
  EXPECT_EQ(kept.dprob, 12);
  EXPECT_EQ(kept.dscore, 4);
  EXPECT_EQ(gradient.dkv_row(0, 0, 0).dv[0], 0);
  EXPECT_EQ(gradient.dkv_row(0, 0, 1).dv[0], 2);
  EXPECT_EQ(gradient.dkv_row(0, 0, 0).dk[0], -2);  // 0.5 * -2 * 2
  EXPECT_EQ(gradient.dq_row(0, 0, 0).dq[0], 3);    // 0.5 (-2 * 3 + 4 * 3)
}

TEST(Family, RopePartsAddToTheScoreAndHaveGradients) {
  Problem p = one_head(1, 2, 0.5);
  p.head_dim_rope = 1;
  Operands<Quad> operands = two_keys();
  operands.query_rope = {10};
  operands.key_rope = {1, 7};
  operands.softmax_max = {8};
  const FlashAttentionScoreGrad<Quad> gradient(p, operands, {});
  const Pair<Quad> pair = gradient.pair(0, 0, 0, 0);
  EXPECT_EQ(pair.score, 8);    // 0.5 (6 + 10)
  EXPECT_EQ(pair.dscore, -1);  // 1/2 (2 - 4)
  EXPECT_EQ(gradient.dkv_row(0, 0, 0).dk, std::vector<Quad>{-1});
  EXPECT_EQ(gradient.dkv_row(0, 0, 0).dk_rope, std::vector<Quad>{-5});
  const Quad other = gradient.pair(0, 0, 0, 1).dscore;
  EXPECT_EQ(gradient.dq_row(0, 0, 0).dq_rope[0], Quad(Quad(-0.5) + Quad(0.5) * other * 7));
}

/// A problem with keep_prob 0.5, and a drop mask in which every byte is `bits`.
struct Dropped {
  Problem problem;
  spec::Tensor mask;
};

Dropped dropping_with(int bits) {
  Problem p = small_problems().front().problem;
  p.keep_prob = 0.5;
  p.drop_mask = spec::DropMask::exact;
  spec::Tensor mask = spec::contiguous_tensor(spec::DType::uint8, spec::drop_mask_shape(p));
  for (std::int64_t k = 0; k < mask.shape[0]; ++k) mask.store(k, bits);
  return {p, mask};
}

TEST(Family, AMaskOfOnesMultipliesBothOutputAndGradients) {
  const Dropped all = dropping_with(255);
  Problem plain = all.problem;
  plain.keep_prob = 1.0;
  const SideInputs side = {.drop_mask = &all.mask};
  const auto operands = consistent_operands<Quad>(plain, side);
  const auto dropped = consistent_operands<Quad>(all.problem, side);
  const auto once = all_rows(plain, FlashAttentionScoreGrad<Quad>(plain, operands, side));
  const auto twice =
      all_rows(all.problem, FlashAttentionScoreGrad<Quad>(all.problem, dropped, side));
  for (std::size_t k = 0; k < once.dv.size(); ++k)
    EXPECT_LT(abs(Quad(twice.dv[k] - 2 * once.dv[k])), Quad(1e-32));
  for (std::size_t k = 0; k < once.dq.size(); ++k)
    EXPECT_LT(abs(Quad(twice.dq[k] - 2 * once.dq[k])), Quad(1e-32));
}

TEST(Family, AMaskOfZerosLeavesMinusTheRowTerm) {
  const Dropped none = dropping_with(0);
  const SideInputs side = {.drop_mask = &none.mask};
  auto operands = consistent_operands<Quad>(none.problem, side);
  EXPECT_EQ(largest_magnitude(operands.attention_in), 0);
  const auto zero =
      all_rows(none.problem, FlashAttentionScoreGrad<Quad>(none.problem, operands, side));
  EXPECT_EQ(largest_magnitude(zero.dq), 0);
  EXPECT_EQ(largest_magnitude(zero.dk), 0);
  operands.attention_in.assign(operands.attention_in.size(), 1);
  const FlashAttentionScoreGrad<Quad> gradient(none.problem, operands, side);
  const Pair<Quad> pair = gradient.pair(0, 1, 2, 3);
  const std::size_t row = 2 * (1 * 4 + 2);
  EXPECT_EQ(pair.dscore, Quad(-pair.prob * (operands.dy[row] + operands.dy[row + 1])));
  EXPECT_EQ(largest_magnitude(all_rows(none.problem, gradient).dv), 0);
}

/// A problem with three sequences: one without keys, one without queries, and an ordinary one.
Problem with_empty_sequences() {
  Problem p;
  p.dtype = spec::DType::fp32;
  p.heads_q = 2;
  p.heads_kv = 1;
  p.head_dim = p.head_dim_v = 2;
  return with_lengths(p, {2, 0, 1, 0}, {0, 3, 2, 0});
}

TEST(Family, SequencesWithoutKeysHaveFullyMaskedRowsAndZeroDq) {
  const Problem p = with_empty_sequences();
  const auto operands = consistent_operands<Quad>(p, {});
  ASSERT_EQ(operands.softmax_max.size(), 6u);
  for (std::size_t row = 0; row < 4; ++row) {
    EXPECT_EQ(operands.softmax_max[row], Quad(-largest_float));
    EXPECT_EQ(operands.softmax_sum[row], Quad(largest_float));
    EXPECT_EQ(operands.attention_in[2 * row], 0);
  }
  EXPECT_LT(operands.softmax_sum[4], 3);
  const FlashAttentionScoreGrad<Quad> gradient(p, operands, {});
  EXPECT_EQ(gradient.dq_row(0, 1, 1).dq, std::vector<Quad>(2, 0));
  EXPECT_GT(largest_magnitude(gradient.dq_row(2, 1, 0).dq), 0);
}

TEST(Family, SequencesWithoutQueriesGiveTheirKeysZeroGradients) {
  const Problem p = with_empty_sequences();
  const FlashAttentionScoreGrad<Quad> gradient(p, consistent_operands<Quad>(p, {}), {});
  const KeyRow<Quad> row = gradient.dkv_row(1, 0, 2);
  EXPECT_EQ(row.dk, std::vector<Quad>(2, 0));
  EXPECT_EQ(row.dv, std::vector<Quad>(2, 0));
  EXPECT_GT(largest_magnitude(gradient.dkv_row(2, 0, 1).dv), 0);
}

TEST(Family, AProblemWithoutAnyQueryOrKeyHasNoRowsOfThem) {
  Problem p = with_empty_sequences();
  p.lengths_q = {0, 0, 0, 0};
  p.seq_q = 0;
  const Inputs without_queries = make_inputs(p, spec::Striding::contiguous);
  const auto keys = all_rows(p, FlashAttentionScoreGrad<double>::from(p, without_queries));
  EXPECT_EQ(keys.dk, std::vector<double>(10, 0.0));
  p = with_empty_sequences();
  p.lengths_kv = {0, 0, 0, 0};
  p.seq_kv = 0;
  const Inputs without_keys = make_inputs(p, spec::Striding::contiguous);
  const auto queries = all_rows(p, FlashAttentionScoreGrad<double>::from(p, without_keys));
  EXPECT_EQ(queries.dq, std::vector<double>(12, 0.0));
}

TEST(Family, PackedSequencesDoNotSeeEachOther) {
  const Problem packed = with_lengths(one_head(1, 1, 0.7), {2, 1, 2}, {1, 3, 2});
  const auto operands = consistent_operands<Quad>(packed, {});
  auto disturbed = operands;
  disturbed.query[2] = disturbed.key[1] = disturbed.value[2] = disturbed.dy[2] = 100;
  const FlashAttentionScoreGrad<Quad> before(packed, operands, {}), after(packed, disturbed, {});
  for (const std::int64_t b : {0, 2}) {
    EXPECT_EQ(before.dq_row(b, 0, 1).dq, after.dq_row(b, 0, 1).dq);
    EXPECT_EQ(before.dkv_row(b, 0, 0).dk, after.dkv_row(b, 0, 0).dk);
    EXPECT_EQ(before.dkv_row(b, 0, 0).dv, after.dkv_row(b, 0, 0).dv);
  }
  EXPECT_NE(before.dq_row(1, 0, 0).dq, after.dq_row(1, 0, 0).dq);
}

TEST(Family, AFullyMaskedProblemHasZeroGradients) {
  Problem p = small_problems().front().problem;
  p.atten_mask = spec::MaskShape::ss;
  const spec::Tensor mask = tensor_of(spec::DType::boolean, {4, 5}, std::vector<double>(20, 1.0));
  const SideInputs side = {.atten_mask = &mask};
  const auto all =
      all_rows(p, FlashAttentionScoreGrad<double>(p, consistent_operands<double>(p, side), side));
  EXPECT_EQ(largest_magnitude(all.dq), 0.0);
  EXPECT_EQ(largest_magnitude(all.dk), 0.0);
  EXPECT_EQ(largest_magnitude(all.dv), 0.0);
}

TEST(Family, TypeZeroWithTheScaledBiasIsTypeOne) {
  Problem p = small_problems().front().problem;
  p.scale_value = 0.5;
  p.pse_shift = spec::PseShape::bnss;
  OwnedSides sides = make_sides(p);
  const auto one = consistent_operands<Quad>(p, sides.refer());
  spec::Tensor& pse = *sides.pse_shift;
  for (std::int64_t k = 0; k < spec::element_count(pse.shape); ++k) pse.store(k, 0.5 * pse.load(k));
  p.pse_type = 0;
  const auto zero = consistent_operands<Quad>(p, sides.refer());
  for (std::size_t row = 0; row < one.softmax_max.size(); ++row)
    EXPECT_EQ(one.softmax_max[row], zero.softmax_max[row]);
}

}  // namespace
}  // namespace assay::reference
