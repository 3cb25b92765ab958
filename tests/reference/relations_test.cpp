#include <gtest/gtest.h>

#include "cases.hpp"

namespace assay::reference {
namespace {

class Relations : public testing::TestWithParam<NamedProblem> {};
INSTANTIATE_TEST_SUITE_P(Small, Relations, testing::ValuesIn(small_problems()),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(Relations, ZeroDyGivesZeroGradients) {
  const Problem& p = GetParam().problem;
  const OwnedSides sides = make_sides(p);
  auto operands = consistent_operands<double>(p, sides.refer());
  operands.dy.assign(operands.dy.size(), 0.0);
  const auto all = all_rows(p, FlashAttentionScoreGrad<double>(p, operands, sides.refer()));
  for (const auto& gradient : {all.dq, all.dk, all.dv, all.dq_rope, all.dk_rope})
    EXPECT_EQ(largest_magnitude(gradient), 0.0);
}

TEST_P(Relations, ZeroScaleGivesZeroGradientsOfQueryAndKey) {
  Problem p = GetParam().problem;
  p.scale_value = 0.0;
  const OwnedSides sides = make_sides(p);
  const auto operands = consistent_operands<double>(p, sides.refer());
  const FlashAttentionScoreGrad<double> gradient(p, operands, sides.refer());
  const auto all = all_rows(p, gradient);
  for (const auto& zero : {all.dq, all.dk, all.dq_rope, all.dk_rope})
    EXPECT_EQ(largest_magnitude(zero), 0.0);
  EXPECT_GT(largest_magnitude(all.dv), 0.0);
  // With pse_type 1 the bias is added before the products are multiplied by the scale 0, so all
  // scores are 0. With other types the bias is added afterwards, so it remains in the scores.
  if (p.pse_type != 1) return;
  for (std::int64_t j = 0; j < p.length_kv(0); ++j)
    EXPECT_TRUE(gradient.pair(0, 0, 0, j).prob == 0.0 ||
                gradient.pair(0, 0, 0, j).prob == 1.0 / operands.softmax_sum[0]);
}

/// Repeats each key head of an operand, so that every query head has its own copy.
std::vector<Quad> repeated_heads(const Problem& p, const spec::Extents& e,
                                 const std::vector<Quad>& operand) {
  std::vector<Quad> repeated;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t n = 0; n < p.heads_q; ++n) {
      const auto first = operand.begin() + e.row(b, n / p.group(), 0) * e.dim;
      repeated.insert(repeated.end(), first, first + e.length(b) * e.dim);
    }
  return repeated;
}

/// Compares a gradient of the grouped heads with the sum of the gradients of the repeated heads.
/// Returns the largest difference.
Quad difference_of_sums(const Problem& p, const spec::Extents& e, const std::vector<Quad>& grouped,
                        const std::vector<Quad>& repeated) {
  std::vector<Quad> differences = grouped;
  std::size_t k = 0;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t n = 0; n < p.heads_q; ++n) {
      const std::int64_t first = e.row(b, n / p.group(), 0) * e.dim;
      for (std::int64_t at = first; at < first + e.length(b) * e.dim; ++at)
        differences[static_cast<std::size_t>(at)] -= repeated[k++];
    }
  EXPECT_EQ(k, repeated.size());
  return largest_magnitude(differences);
}

TEST_P(Relations, GroupedHeadsEqualTheSumOverRepeatedHeads) {
  const Problem& p = GetParam().problem;
  const OwnedSides sides = make_sides(p);
  const auto operands = consistent_operands<Quad>(p, sides.refer());
  Problem repeated = p;
  repeated.heads_kv = p.heads_q;
  auto ungrouped = operands;
  ungrouped.key = repeated_heads(p, key_extents(p), operands.key);
  ungrouped.value = repeated_heads(p, value_extents(p), operands.value);
  ungrouped.key_rope = repeated_heads(p, key_rope_extents(p), operands.key_rope);
  const auto all = all_rows(p, FlashAttentionScoreGrad<Quad>(p, operands, sides.refer()));
  const auto heads =
      all_rows(repeated, FlashAttentionScoreGrad<Quad>(repeated, ungrouped, sides.refer()));
  EXPECT_EQ(all.dq, heads.dq);
  EXPECT_EQ(all.dq_rope, heads.dq_rope);
  EXPECT_LT(difference_of_sums(p, key_extents(p), all.dk, heads.dk), Quad(1e-32));
  EXPECT_LT(difference_of_sums(p, value_extents(p), all.dv, heads.dv), Quad(1e-32));
  EXPECT_LT(difference_of_sums(p, key_rope_extents(p), all.dk_rope, heads.dk_rope), Quad(1e-32));
}

TEST_P(Relations, LayoutsStridesAndOrdersOfStatisticsDoNotChangeABit) {
  Problem p = GetParam().problem;
  p.dtype = spec::DType::bf16;
  const Inputs contiguous = make_inputs(p, spec::Striding::contiguous);
  const auto expected = all_rows(p, FlashAttentionScoreGrad<double>::from(p, contiguous));
  EXPECT_GT(largest_magnitude(expected.dq), 0.0);
  for (const spec::Layout layout : layouts_of(p))
    for (const auto& [striding, striding_name] : spec::spellings_of<spec::Striding>.entries) {
      if (striding == spec::Striding::far) continue;  // storage of 8 GiB
      for (const auto& [order, order_name] : spec::spellings_of<spec::StatisticsOrder>.entries) {
        p.input_layout = layout;
        p.statistics_order = order;
        const Inputs inputs = make_inputs(p, striding);
        EXPECT_EQ(all_rows(p, FlashAttentionScoreGrad<double>::from(p, inputs)), expected)
            << to_string(layout) << ' ' << striding_name << ' ' << order_name;
      }
    }
}

TEST_P(Relations, RopeIsAConcatenation) {
  Problem p = GetParam().problem;
  p.head_dim_rope = 2;
  const OwnedSides sides = make_sides(p);
  const auto operands = consistent_operands<Quad>(p, sides.refer());
  const auto joined = [&](const std::vector<Quad>& first, const std::vector<Quad>& second) {
    std::vector<Quad> rows;
    const auto dim = p.head_dim, rope = p.head_dim_rope;
    for (std::int64_t row = 0; row * dim < static_cast<std::int64_t>(first.size()); ++row) {
      rows.insert(rows.end(), first.begin() + row * dim, first.begin() + (row + 1) * dim);
      rows.insert(rows.end(), second.begin() + row * rope, second.begin() + (row + 1) * rope);
    }
    return rows;
  };
  Problem wide = p;
  wide.head_dim = p.head_dim + p.head_dim_rope;
  wide.head_dim_rope = 0;
  auto wide_operands = operands;
  wide_operands.query = joined(operands.query, operands.query_rope);
  wide_operands.key = joined(operands.key, operands.key_rope);
  wide_operands.query_rope.clear();
  wide_operands.key_rope.clear();
  const auto all = all_rows(p, FlashAttentionScoreGrad<Quad>(p, operands, sides.refer()));
  const auto expected =
      all_rows(wide, FlashAttentionScoreGrad<Quad>(wide, wide_operands, sides.refer()));
  EXPECT_EQ(joined(all.dq, all.dq_rope), expected.dq);
  EXPECT_EQ(joined(all.dk, all.dk_rope), expected.dk);
  EXPECT_EQ(all.dv, expected.dv);
}

}  // namespace
}  // namespace assay::reference
