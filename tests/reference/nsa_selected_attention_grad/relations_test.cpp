#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "../cases.hpp"
#include "assay/reference/flash_attention_score_grad.hpp"
#include "cases.hpp"

namespace assay::reference {
namespace {

Quad largest_difference(const std::vector<Quad>& a, const std::vector<Quad>& b) {
  EXPECT_EQ(a.size(), b.size());
  std::vector<Quad> differences;
  for (std::size_t k = 0; k < a.size(); ++k) differences.push_back(a[k] - b[k]);
  return largest_magnitude(differences);
}

void expect_equal_but_for_rounding(const SelectedGradients<Quad>& a,
                                   const SelectedGradients<Quad>& b) {
  const Quad limit(1e-31);
  EXPECT_LT(largest_difference(a.dq, b.dq), limit);
  EXPECT_LT(largest_difference(a.dk, b.dk), limit);
  EXPECT_LT(largest_difference(a.dv, b.dv), limit);
}

class SelectedRelations : public testing::TestWithParam<NamedSelection> {};
INSTANTIATE_TEST_SUITE_P(Small, SelectedRelations, testing::ValuesIn(small_selections()),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(SelectedRelations, PermutingAListChangesNothing) {
  const SelectedProblem& p = GetParam().problem;
  auto lists = make_lists(p, GetParam().kind);
  const auto expected = all_rows(p, consistent_operands<Quad>(p, lists));
  for (std::size_t k = 0; k < lists.size(); k += 2) std::swap(lists[k], lists[k + 1]);
  expect_equal_but_for_rounding(all_rows(p, consistent_operands<Quad>(p, lists)), expected);
}

TEST_P(SelectedRelations, TheGradientsOfTheScoresOfARowCancel) {
  const SelectedProblem& p = GetParam().problem;
  const auto operands = consistent_operands<Quad>(p, make_lists(p, GetParam().kind));
  const NsaSelectedAttentionGrad<Quad> gradient(p, operands);
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t n = 0; n < p.heads_q; ++n)
      for (std::int64_t i = 0; i < p.length_q(b); ++i) {
        Quad sum(0), prob(0);
        for (std::int64_t k = 0; k < gradient.selection().size(); ++k) {
          const auto pair =
              gradient.pair(b, n, i, gradient.selection().key(b, n / p.group(), i, k));
          sum += pair.dscore;
          prob += pair.prob;
        }
        EXPECT_LT(abs(sum), Quad(1e-31));
        EXPECT_LT(abs(prob - 1), Quad(1e-31));
      }
}

TEST_P(SelectedRelations, TwiceTheGradientOfTheOutputGivesTwiceTheGradients) {
  const SelectedProblem& p = GetParam().problem;
  auto operands = consistent_operands<double>(p, make_lists(p, GetParam().kind));
  const auto once = all_rows(p, operands);
  for (double& element : operands.attention_out_grad) element *= 2;
  auto twice = all_rows(p, operands);
  for (auto* gradient : {&twice.dq, &twice.dk, &twice.dv})
    for (double& element : *gradient) element /= 2;
  EXPECT_EQ(twice, once);
}

TEST_P(SelectedRelations, AnotherMaximumWithItsSumChangesNothing) {
  const SelectedProblem& p = GetParam().problem;
  auto operands = consistent_operands<Quad>(p, make_lists(p, GetParam().kind));
  const auto expected = all_rows(p, operands);
  for (Quad& max : operands.softmax_max) max += Quad(0.375);
  for (Quad& sum : operands.softmax_sum) sum *= exp(Quad(-0.375));
  expect_equal_but_for_rounding(all_rows(p, operands), expected);
}

/// Returns the rows of an operand that belong to sequence b.
template <class Element>
std::vector<Element> part(const std::vector<Element>& all, const spec::Extents& e, std::int64_t b) {
  const auto first = all.begin() + e.row(b, 0, 0) * e.dim;
  return {first, first + e.length(b) * e.heads * e.dim};
}

TEST_P(SelectedRelations, SequencesAreIndependent) {
  const SelectedProblem& p = GetParam().problem;
  const auto operands = consistent_operands<double>(p, make_lists(p, GetParam().kind));
  const auto together = all_rows(p, operands);
  for (std::int64_t b = 0; b < p.batch; ++b) {
    SelectedProblem alone = p;
    alone.batch = 1;
    alone.seq_q = p.length_q(b);
    alone.seq_kv = p.length_kv(b);
    alone.lengths_q.clear();
    alone.lengths_kv.clear();
    SelectedOperands<double> own{
        .query = part(operands.query, query_extents(p), b),
        .key = part(operands.key, key_extents(p), b),
        .value = part(operands.value, value_extents(p), b),
        .attention_out_grad = part(operands.attention_out_grad, attention_out_extents(p), b),
        .softmax_max = {},
        .softmax_sum = {},
        .attention_out = {},
        .topk_indices = part(operands.topk_indices, topk_extents(p), b)};
    make_consistent(alone, own);
    const auto rows = all_rows(alone, own);
    EXPECT_EQ(rows.dq, part(together.dq, query_extents(p), b));
    EXPECT_EQ(rows.dk, part(together.dk, key_extents(p), b));
    EXPECT_EQ(rows.dv, part(together.dv, value_extents(p), b));
  }
}

TEST_P(SelectedRelations, UnlistedKeysHaveNoGradient) {
  const SelectedProblem& p = GetParam().problem;
  const NsaSelectedAttentionGrad<double> gradient(
      p, consistent_operands<double>(p, make_lists(p, GetParam().kind)));
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t kv = 0; kv < p.heads_kv; ++kv)
      for (std::int64_t j = 0; j < p.length_kv(b); ++j) {
        bool listed = false;
        for (std::int64_t i = 0; i < p.length_q(b); ++i)
          listed = listed || (gradient.selection().multiplicity(b, kv, i, j) > 0 &&
                              gradient.selection().sees(i, j));
        EXPECT_EQ(largest_magnitude(gradient.dkv_row(b, kv, j).dv) > 0.0, listed) << j;
      }
}

/// Returns problems in which every query lists every block of its sequence exactly once.
std::vector<SelectedProblem> complete_selections() {
  SelectedProblem p{.batch = 2,
                    .heads_q = 4,
                    .heads_kv = 2,
                    .seq_q = 7,
                    .seq_kv = 6,
                    .lengths_q = {3, 7},
                    .head_dim = 3,
                    .head_dim_v = 2,
                    .scale_value = 0.75,
                    .selected_block_size = 2,
                    .selected_block_count = 3};
  return {p, causal(p)};
}

TEST(SelectedRelations, SelectingEveryBlockOnceIsDenseAttention) {
  for (const SelectedProblem& p : complete_selections()) {
    const auto lists = make_lists(p, ListKind::shuffled);
    const auto operands = consistent_operands<Quad>(p, lists);
    Problem dense{.input_layout = spec::Layout::tnd,
                  .batch = p.batch,
                  .heads_q = p.heads_q,
                  .heads_kv = p.heads_kv,
                  .seq_q = p.seq_q,
                  .seq_kv = p.seq_kv,
                  .lengths_q = p.lengths_q,
                  .head_dim = p.head_dim,
                  .head_dim_v = p.head_dim_v,
                  .scale_value = p.scale_value,
                  .sparse_mode = p.sparse_mode};
    if (p.sparse_mode == 2) dense.atten_mask = spec::MaskShape::compressed;
    const OwnedSides sides = make_sides(dense);
    const FlashAttentionScoreGrad<Quad> attention(dense,
                                                  {.query = operands.query,
                                                   .key = operands.key,
                                                   .value = operands.value,
                                                   .dy = operands.attention_out_grad,
                                                   .softmax_max = operands.softmax_max,
                                                   .softmax_sum = operands.softmax_sum,
                                                   .attention_in = operands.attention_out},
                                                  sides.refer());
    const Gradients<Quad> expected = all_rows(dense, attention);
    EXPECT_GT(largest_magnitude(expected.dk), Quad(0.01));
    expect_equal_but_for_rounding(all_rows(p, operands),
                                  {.dq = expected.dq, .dk = expected.dk, .dv = expected.dv});
  }
}

/// Two blocks of a sequence have the same keys and values. A list that contains the first block
/// twice must give the same result as a list that contains both blocks once.
TEST(SelectedRelations, ABlockListedTwiceCountsTwice) {
  const SelectedProblem p{.seq_q = 3,
                          .seq_kv = 6,
                          .head_dim = 3,
                          .head_dim_v = 2,
                          .scale_value = 0.75,
                          .selected_block_size = 2,
                          .selected_block_count = 3};
  auto operands = consistent_operands<Quad>(p, {0, 0, 1, 0, 1, 0, 1, 0, 0});
  std::copy_n(operands.key.begin(), 6, operands.key.begin() + 12);
  std::copy_n(operands.value.begin(), 4, operands.value.begin() + 8);
  make_consistent(p, operands);
  auto apart = operands;
  apart.topk_indices = {0, 2, 1, 0, 1, 2, 1, 0, 2};
  const auto forward_apart = forward(p, apart);
  EXPECT_EQ(forward_apart.attention_out, operands.attention_out);
  EXPECT_EQ(forward_apart.softmax_sum, operands.softmax_sum);
  const auto twice = all_rows(p, operands);
  auto folded = all_rows(p, apart);
  EXPECT_EQ(largest_difference({twice.dk.begin() + 12, twice.dk.end()}, std::vector<Quad>(6, 0)),
            0);
  EXPECT_GT(largest_magnitude(folded.dv), Quad(0.1));
  for (std::size_t k = 0; k < 6; ++k) folded.dk[k] += std::exchange(folded.dk[12 + k], Quad(0));
  for (std::size_t k = 0; k < 4; ++k) folded.dv[k] += std::exchange(folded.dv[8 + k], Quad(0));
  expect_equal_but_for_rounding(twice, folded);
}

TEST(SelectedRelations, AListOfOneBlockManyTimesIsThatBlock) {
  SelectedProblem p{.heads_q = 2,
                    .seq_q = 4,
                    .seq_kv = 6,
                    .head_dim = 3,
                    .head_dim_v = 2,
                    .scale_value = 0.75,
                    .selected_block_size = 2,
                    .selected_block_count = 1};
  const auto once = all_rows(p, consistent_operands<Quad>(p, {0, 2, 1, 1}));
  p.selected_block_count = 3;
  expect_equal_but_for_rounding(
      all_rows(p, consistent_operands<Quad>(p, {0, 0, 0, 2, 2, 2, 1, 1, 1, 1, 1, 1})), once);
}

TEST(SelectedRelations, ABlockOfTheFutureContributesNothing) {
  SelectedProblem p = causal({.seq_q = 2,
                              .seq_kv = 6,
                              .head_dim = 3,
                              .head_dim_v = 2,
                              .scale_value = 0.75,
                              .selected_block_size = 2,
                              .selected_block_count = 2});
  const auto with_future = all_rows(p, consistent_operands<Quad>(p, {2, 0, 0, 1}));
  p.selected_block_count = 1;
  expect_equal_but_for_rounding(with_future, all_rows(p, consistent_operands<Quad>(p, {0, 0})));
}

TEST(SelectedRelations, QueriesAfterAllKeysSeeThemAll) {
  const SelectedProblem all{.seq_q = 6,
                            .seq_kv = 2,
                            .head_dim = 3,
                            .head_dim_v = 2,
                            .selected_block_size = 2,
                            .selected_block_count = 1};
  const NsaSelectedAttentionGrad<double> seen(
      all, consistent_operands<double>(all, make_lists(all, ListKind::ascending)));
  const SelectedProblem p = causal(all);
  const NsaSelectedAttentionGrad<double> masked(
      p, consistent_operands<double>(p, make_lists(p, ListKind::ascending)));
  EXPECT_NE(masked.dq_row(0, 0, 0), seen.dq_row(0, 0, 0));
  for (std::int64_t i = 1; i < 6; ++i) EXPECT_EQ(masked.dq_row(0, 0, i), seen.dq_row(0, 0, i));
}

}  // namespace
}  // namespace assay::reference
