#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "../cases.hpp"
#include "../filled.hpp"
#include "assay/reference/nsa_selected_attention_grad.hpp"
#include "cases.hpp"

namespace assay::reference {
namespace {

/// A problem with one head, blocks of one key, and head sizes of 1.
SelectedProblem one_query(std::int64_t keys, std::int64_t blocks, double scale) {
  return {.seq_q = 1,
          .seq_kv = keys,
          .head_dim = 1,
          .head_dim_v = 1,
          .scale_value = scale,
          .selected_block_size = 1,
          .selected_block_count = blocks};
}

TEST(NsaSelectedAttentionGrad, TwoOfThreeKeysAgreeWithHandComputation) {
  // Computed by hand: keys 0 and 2 have the score 0, so P = 1/2, 1/2. The output is 2, dP = 2, 6,
  // the row term is 4, and dS = -1, 1. No list contains key 1.
  const NsaSelectedAttentionGrad<Quad> gradient(one_query(3, 2, 0.5), {.query = {0},
                                                                       .key = {5, 77, 8},
                                                                       .value = {1, 99, 3},
                                                                       .attention_out_grad = {2},
                                                                       .softmax_max = {0},
                                                                       .softmax_sum = {2},
                                                                       .attention_out = {2},
                                                                       .topk_indices = {2, 0}});
  EXPECT_EQ(gradient.dq_row(0, 0, 0)[0], Quad(1.5));  // 0.5 (8 - 5)
  EXPECT_EQ(gradient.dkv_row(0, 0, 0).dv[0], 1);
  EXPECT_EQ(gradient.dkv_row(0, 0, 1).dv[0], 0);
  EXPECT_EQ(gradient.dkv_row(0, 0, 1).dk[0], 0);
  EXPECT_EQ(gradient.dkv_row(0, 0, 2).dv[0], 1);
}

TEST(NsaSelectedAttentionGrad, KeyListedTwiceAgreesWithHandComputation) {
  // Computed by hand: the list contains 0, 0, 1, each with the score 3 = 0.5 * 2 * 3, so P = 1/3
  // each. The output is 2, dP = 3, 3, 12, the row term is 6, and dS = -1, -1, 2.
  const NsaSelectedAttentionGrad<Quad> gradient(one_query(2, 3, 0.5), {.query = {2},
                                                                       .key = {3, 3},
                                                                       .value = {1, 4},
                                                                       .attention_out_grad = {3},
                                                                       .softmax_max = {3},
                                                                       .softmax_sum = {3},
                                                                       .attention_out = {2},
                                                                       .topk_indices = {0, 1, 0}});
  EXPECT_LT(abs(gradient.dkv_row(0, 0, 0).dv[0] - 2), Quad(1e-32));
  EXPECT_LT(abs(gradient.dkv_row(0, 0, 1).dv[0] - 1), Quad(1e-32));
  EXPECT_LT(abs(gradient.dkv_row(0, 0, 0).dk[0] + 2), Quad(1e-32));  // 0.5 * (-1 - 1) * 2
  EXPECT_LT(abs(gradient.dkv_row(0, 0, 1).dk[0] - 2), Quad(1e-32));
  EXPECT_LT(abs(gradient.dq_row(0, 0, 0)[0]), Quad(1e-32));
}

TEST(NsaSelectedAttentionGrad, TheForwardCountsAKeyAsOftenAsItIsListed) {
  SelectedOperands<double> operands{.query = {0},
                                    .key = {3, 3},
                                    .value = {1, 4},
                                    .attention_out_grad = {},
                                    .softmax_max = {},
                                    .softmax_sum = {},
                                    .attention_out = {},
                                    .topk_indices = {0, 1, 0}};
  const auto result = forward(one_query(2, 3, 0.5), operands);
  EXPECT_EQ(result.softmax_sum[0], 3.0);
  EXPECT_NEAR(result.attention_out[0], 2.0, 1e-15);
}

TEST(NsaSelectedAttentionGrad, ReadsStatisticsAndOutputAndRecomputesNeither) {
  // The sum is 4 instead of 2, which halves P, and attention_out is 0, which removes the row term.
  // So dS = 1/4 * 2, 1/4 * 6.
  const NsaSelectedAttentionGrad<double> gradient(one_query(2, 2, 0.5), {.query = {2},
                                                                         .key = {3, 3},
                                                                         .value = {1, 3},
                                                                         .attention_out_grad = {2},
                                                                         .softmax_max = {3},
                                                                         .softmax_sum = {4},
                                                                         .attention_out = {0},
                                                                         .topk_indices = {0, 1}});
  EXPECT_EQ(gradient.pair(0, 0, 0, 0).dscore, 0.5);
  EXPECT_EQ(gradient.pair(0, 0, 0, 1).dscore, 1.5);
  EXPECT_EQ(gradient.dkv_row(0, 0, 0).dv[0], 0.5);
}

TEST(NsaSelectedAttentionGrad, RoundsTheScaleToFloat) {
  const NsaSelectedAttentionGrad<Fifty> gradient(one_query(1, 1, 0.1), {.query = {1},
                                                                        .key = {1},
                                                                        .value = {1},
                                                                        .attention_out_grad = {1},
                                                                        .softmax_max = {0},
                                                                        .softmax_sum = {1},
                                                                        .attention_out = {0},
                                                                        .topk_indices = {0}});
  EXPECT_EQ(gradient.pair(0, 0, 0, 0).score, Fifty(0.1f));
}

TEST(NsaSelectedAttentionGrad, TheMaskCountsPositionsFromTheStartOfBothSequences) {
  const SelectedProblem p = causal({.batch = 2,
                                    .seq_q = 4,
                                    .seq_kv = 6,
                                    .lengths_q = {1, 4},
                                    .lengths_kv = {6, 4},
                                    .selected_block_size = 2,
                                    .selected_block_count = 2});
  const Selection selection(p, make_lists(p, ListKind::ascending));
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t j = 0; j < 4; ++j) EXPECT_EQ(selection.sees(i, j), j <= i);
}

TEST(NsaSelectedAttentionGrad, TheMaskCountsInSparseModeTwoAlone) {
  SelectedProblem p = one_query(2, 2, 1.0);
  const auto sees_the_future = [&] { return Selection(p, {0, 1}).sees(0, 1); };
  EXPECT_TRUE(sees_the_future());
  p.atten_mask = spec::SelectedMask::compressed;
  EXPECT_TRUE(sees_the_future());
  p.sparse_mode = 2;
  EXPECT_FALSE(sees_the_future());
  // The documentation does not say whether sparse mode 2 masks anything if there is no mask tensor.
  // The forward operator with the same arguments does not mask anything.
  p.atten_mask = spec::SelectedMask::absent;
  EXPECT_TRUE(sees_the_future());
}

TEST(NsaSelectedAttentionGrad, AnUnseenKeyOfNaNReachesNoOtherElement) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const NsaSelectedAttentionGrad<double> gradient(causal(one_query(2, 2, 1.0)),
                                                  {.query = {2},
                                                   .key = {3, nan},
                                                   .value = {1, nan},
                                                   .attention_out_grad = {2},
                                                   .softmax_max = {6},
                                                   .softmax_sum = {1},
                                                   .attention_out = {0},
                                                   .topk_indices = {1, 0}});
  EXPECT_EQ(gradient.dq_row(0, 0, 0)[0], 6.0);
  EXPECT_EQ(gradient.pair(0, 0, 0, 1).prob, 0.0);
  EXPECT_EQ(gradient.dkv_row(0, 0, 1).dk[0], 0.0);
  EXPECT_EQ(gradient.dkv_row(0, 0, 1).dv[0], 0.0);
}

/// This problem is not legal: the list of query 0 contains only blocks that lie after the query.
TEST(NsaSelectedAttentionGrad, ARowThatSeesNoKeyContributesNothing) {
  SelectedProblem p = causal({.seq_q = 2,
                              .seq_kv = 2,
                              .head_dim = 1,
                              .head_dim_v = 1,
                              .selected_block_size = 1,
                              .selected_block_count = 1});
  const auto operands = consistent_operands<Quad>(p, {1, 1});
  EXPECT_EQ(operands.softmax_max[0], Quad(-std::numeric_limits<float>::max()));
  EXPECT_EQ(operands.softmax_sum[0], Quad(std::numeric_limits<float>::max()));
  EXPECT_EQ(operands.attention_out[0], 0);
  const NsaSelectedAttentionGrad<Quad> gradient(p, operands);
  EXPECT_EQ(gradient.dq_row(0, 0, 0)[0], 0);
  EXPECT_EQ(gradient.dkv_row(0, 0, 1).dv[0], operands.attention_out_grad[1]);
  EXPECT_EQ(gradient.dkv_row(0, 0, 0).dv[0], 0);
}

TEST(NsaSelectedAttentionGrad, ASingleQueryUnderTheMaskSeesKeyZeroAlone) {
  SelectedProblem p = causal({.heads_q = 4,
                              .heads_kv = 2,
                              .seq_q = 1,
                              .seq_kv = 4,
                              .head_dim = 3,
                              .head_dim_v = 2,
                              .selected_block_size = 2,
                              .selected_block_count = 2});
  const auto operands = consistent_operands<Quad>(p, {1, 0, 0, 1});
  const auto all = all_rows(p, operands);
  EXPECT_EQ(largest_magnitude(all.dq), 0);
  EXPECT_EQ(largest_magnitude(all.dk), 0);
  for (std::size_t kv = 0; kv < 2; ++kv)
    for (std::size_t c = 0; c < 2; ++c) {
      EXPECT_EQ(all.dv[kv * 8 + c], operands.attention_out_grad[kv * 4 + c] +
                                        operands.attention_out_grad[kv * 4 + 2 + c]);
      for (std::size_t j = 1; j < 4; ++j) EXPECT_EQ(all.dv[kv * 8 + 2 * j + c], 0);
    }
}

TEST(NsaSelectedAttentionGrad, ZeroScaleGivesEqualProbabilitiesAndNoDqNoDk) {
  SelectedProblem p = small_selections().front().problem;
  p.scale_value = 0.0;
  const auto operands = consistent_operands<double>(p, make_lists(p, ListKind::shuffled));
  const NsaSelectedAttentionGrad<double> gradient(p, operands);
  const auto all = all_rows(p, gradient);
  EXPECT_EQ(largest_magnitude(all.dq), 0.0);
  EXPECT_EQ(largest_magnitude(all.dk), 0.0);
  EXPECT_EQ(gradient.pair(0, 0, 0, 0).prob, 0.25);
}

TEST(NsaSelectedAttentionGrad, RefusesIndicesOutsideOfTheirSequence) {
  const SelectedProblem p{.batch = 2,
                          .seq_q = 1,
                          .seq_kv = 4,
                          .lengths_q = {1, 1},
                          .lengths_kv = {4, 2},
                          .selected_block_size = 2,
                          .selected_block_count = 1};
  EXPECT_NO_THROW(Selection(p, {1, 0}));
  EXPECT_THROW(Selection(p, {2, 0}), std::invalid_argument);
  EXPECT_THROW(Selection(p, {0, 1}), std::invalid_argument);  // the second sequence has one block
  EXPECT_THROW(Selection(p, {-1, 0}), std::invalid_argument);
  EXPECT_THROW(Selection(p, {0}), std::invalid_argument);
  try {
    Selection(p, {0, 1});
  } catch (const std::invalid_argument& refusal) {
    EXPECT_STREQ(refusal.what(),
                 "selection: entry 0 of the list of query 0 of sequence 1, key head 0 is block 1; "
                 "the sequence has 1");
  }
}

TEST(NsaSelectedAttentionGrad, RefusesOtherSparseModes) {
  SelectedProblem p = one_query(1, 1, 1.0);
  p.sparse_mode = 3;
  EXPECT_THROW(Selection(p, {0}), std::invalid_argument);
}

/// The example in the documentation: fp16 buffers filled with the integer 2, statistics 2, and
/// indices 0 to 15.
TEST(NsaSelectedAttentionGrad, TheExampleOfThePageIsAsDecoded) {
  const SelectedProblem p{.dtype = spec::DType::fp16,
                          .seq_q = 1,
                          .seq_kv = 1024,
                          .head_dim_v = 192,
                          .scale_value = 1.0,
                          .selected_block_size = 64,
                          .selected_block_count = 16};
  const auto t = call_of(p, spec::SelectedEntryPoint::s1, spec::Product::a2,
                         spec::Striding::contiguous, spec::Striding::contiguous)
                     .parameters;
  const auto tiny = [](std::int64_t) { return 0x1p-23; };
  const auto two = [](std::int64_t) { return 2.0; };
  const SelectedInputs inputs{.query = filled(t.query, tiny),
                              .key = filled(t.key, tiny),
                              .value = filled(t.value, tiny),
                              .attention_out = filled(t.attention_out, tiny),
                              .attention_out_grad = filled(t.attention_out_grad, tiny),
                              .softmax_max = filled(t.softmax_max, two),
                              .softmax_sum = filled(t.softmax_sum, two),
                              .topk_indices = filled(t.topk_indices, [](std::int64_t k) {
                                return static_cast<double>(k);
                              })};
  const auto gradient = NsaSelectedAttentionGrad<double>::from(p, inputs);
  EXPECT_EQ(largest_magnitude(gradient.dq_row(0, 0, 0)), 0.0);
  const auto row = gradient.dkv_row(0, 0, 1023);
  EXPECT_EQ(largest_magnitude(row.dk), 0.0);
  EXPECT_NEAR(row.dv[191], std::exp(-2.0) / 2 * 0x1p-23, 1e-15);
  EXPECT_LT(row.dv[191], 0x1p-25);  // half of the smallest fp16
}

SelectedInputs make_inputs(const SelectedProblem& p, spec::Striding striding) {
  const auto t =
      call_of(p, spec::SelectedEntryPoint::s1, spec::Product::a2, striding, striding).parameters;
  const auto random = [](std::uint64_t seed) {
    return [seed](std::int64_t k) { return element(seed, k); };
  };
  const auto indices = [&](std::int64_t k) {
    return static_cast<double>(k * 7 % (p.length_kv(0) / p.selected_block_size));
  };
  return {
      .query = filled(t.query, random(1)),
      .key = filled(t.key, random(2)),
      .value = filled(t.value, random(3)),
      .attention_out = filled(t.attention_out, random(4)),
      .attention_out_grad = filled(t.attention_out_grad, random(5)),
      .softmax_max = filled(t.softmax_max, random(6)),
      .softmax_sum = filled(t.softmax_sum, [](std::int64_t k) { return 1.5 + element(7, k) / 4; }),
      .topk_indices = filled(t.topk_indices, indices)};
}

TEST(NsaSelectedAttentionGrad, StridesDoNotChangeABit) {
  const SelectedProblem p{.batch = 2,
                          .heads_q = 4,
                          .heads_kv = 2,
                          .seq_q = 3,
                          .seq_kv = 6,
                          .lengths_q = {3, 1},
                          .head_dim = 5,
                          .head_dim_v = 3,
                          .selected_block_size = 2,
                          .selected_block_count = 2};
  const auto rows = [&](spec::Striding striding) {
    return all_rows(p, NsaSelectedAttentionGrad<double>::from(p, make_inputs(p, striding)));
  };
  const auto contiguous = rows(spec::Striding::contiguous);
  EXPECT_GT(largest_magnitude(contiguous.dk), 0.0);
  EXPECT_EQ(rows(spec::Striding::padded), contiguous);
  EXPECT_EQ(rows(spec::Striding::transposed), contiguous);
}

TEST(NsaSelectedAttentionGrad, RefusesATensorOfAnotherShape) {
  SelectedProblem p;
  const SelectedInputs inputs = make_inputs(p, spec::Striding::contiguous);
  EXPECT_NO_THROW(NsaSelectedAttentionGrad<double>::from(p, inputs));
  p.seq_kv = 80;
  EXPECT_THROW(NsaSelectedAttentionGrad<double>::from(p, inputs), std::invalid_argument);
  p.seq_kv = 64;
  p.selected_block_count = 1;
  EXPECT_THROW(NsaSelectedAttentionGrad<double>::from(p, inputs), std::invalid_argument);
}

}  // namespace
}  // namespace assay::reference
