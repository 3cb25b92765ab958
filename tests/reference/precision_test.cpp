#include <gtest/gtest.h>

#include "cases.hpp"

namespace assay::reference {
namespace {

using std::abs;

/// For each element of the gradients, the sum of the magnitudes of its terms. `score` is the
/// largest |score| + |bias|.
struct Magnitudes {
  Gradients<Quad> sums;
  Quad score = 0;
};

Quad dot_of_magnitudes(const std::vector<Quad>& a, std::int64_t row_a, const std::vector<Quad>& b,
                       std::int64_t row_b, std::int64_t dim) {
  Quad sum = 0;
  for (std::int64_t d = 0; d < dim; ++d)
    sum += abs(a[static_cast<std::size_t>(row_a * dim + d)] *
               b[static_cast<std::size_t>(row_b * dim + d)]);
  return sum;
}

void add_magnitudes(std::vector<Quad>& sums, std::int64_t row, const Quad& factor,
                    const std::vector<Quad>& operand, std::int64_t operand_row, std::int64_t dim) {
  for (std::int64_t d = 0; d < dim; ++d)
    sums[static_cast<std::size_t>(row * dim + d)] +=
        abs(factor * operand[static_cast<std::size_t>(operand_row * dim + d)]);
}

Magnitudes magnitudes(const Problem& p, const Operands<Quad>& operands, const SideInputs& side) {
  const FlashAttentionScoreGrad<Quad> gradient(p, operands, side);
  const spec::Extents queries = query_extents(p), keys = key_extents(p);
  const Quad scale = abs(Quad(static_cast<float>(p.scale_value)));
  const auto zeros = [](const std::vector<Quad>& like) {
    return std::vector<Quad>(like.size(), 0);
  };
  Magnitudes result{.sums = {.dq = zeros(operands.query),
                             .dk = zeros(operands.key),
                             .dv = zeros(operands.value),
                             .dq_rope = zeros(operands.query_rope),
                             .dk_rope = zeros(operands.key_rope)}};
  const auto add_pair = [&](std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) {
    const Pair<Quad> pair = gradient.pair(b, n, i, j);
    const std::int64_t query = queries.row(b, n, i), key = keys.row(b, n / p.group(), j);
    const std::int64_t dim_v = p.head_dim_v, dim_rope = p.head_dim_rope;
    const Quad factor = 1 / Quad(static_cast<float>(p.keep_prob));
    const Quad dscore =
        scale * pair.prob *
        (factor * dot_of_magnitudes(operands.dy, query, operands.value, key, dim_v) +
         dot_of_magnitudes(operands.dy, query, operands.attention_in, query, dim_v));
    add_magnitudes(result.sums.dq, query, dscore, operands.key, key, p.head_dim);
    add_magnitudes(result.sums.dk, key, dscore, operands.query, query, p.head_dim);
    add_magnitudes(result.sums.dq_rope, query, dscore, operands.key_rope, key, dim_rope);
    add_magnitudes(result.sums.dk_rope, key, dscore, operands.query_rope, query, dim_rope);
    add_magnitudes(result.sums.dv, key, pair.dropped, operands.dy, query, dim_v);
    const Quad bias = abs(gradient.position_bias().value_as<Quad>(b, n, i, j));
    if (abs(pair.score) + bias > result.score) result.score = abs(pair.score) + bias;
  };
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t n = 0; n < p.heads_q; ++n)
      for (std::int64_t i = 0; i < p.length_q(b); ++i)
        for (std::int64_t j = 0; j < p.length_kv(b); ++j) add_pair(b, n, i, j);
  return result;
}

void expect_within(const std::vector<Quad>& quad, const std::vector<Fifty>& fifty,
                   const std::vector<Quad>& magnitude, const Quad& factor) {
  ASSERT_EQ(quad.size(), fifty.size());
  for (std::size_t k = 0; k < quad.size(); ++k)
    EXPECT_LE(abs(Fifty(quad[k]) - fifty[k]), Fifty(factor * magnitude[k])) << "element " << k;
}

/// Converts the operands to another number type.
template <class Real>
Operands<Real> converted(const Operands<double>& given) {
  const auto as = [](const std::vector<double>& v) {
    return std::vector<Real>(v.begin(), v.end());
  };
  return {.query = as(given.query),
          .key = as(given.key),
          .value = as(given.value),
          .dy = as(given.dy),
          .softmax_max = as(given.softmax_max),
          .softmax_sum = as(given.softmax_sum),
          .attention_in = as(given.attention_in),
          .query_rope = as(given.query_rope),
          .key_rope = as(given.key_rope)};
}

void expect_quad_within_bound_of_fifty(const Problem& p) {
  const OwnedSides sides = make_sides(p);
  const auto given = consistent_operands<double>(p, sides.refer());
  const auto operands = converted<Quad>(given);
  const auto quad = all_rows(p, FlashAttentionScoreGrad<Quad>(p, operands, sides.refer()));
  const auto fifty =
      all_rows(p, FlashAttentionScoreGrad<Fifty>(p, converted<Fifty>(given), sides.refer()));
  const Magnitudes bound = magnitudes(p, operands, sides.refer());
  const Quad factor =
      (2 * (p.head_dim + p.head_dim_rope) + p.seq_kv + 4 + bound.score) * ldexp(Quad(1), -112);
  expect_within(quad.dq, fifty.dq, bound.sums.dq, factor);
  expect_within(quad.dk, fifty.dk, bound.sums.dk, factor);
  expect_within(quad.dv, fifty.dv, bound.sums.dv, factor);
  expect_within(quad.dq_rope, fifty.dq_rope, bound.sums.dq_rope, factor);
  expect_within(quad.dk_rope, fifty.dk_rope, bound.sums.dk_rope, factor);
}

class Precision : public testing::TestWithParam<NamedProblem> {};

TEST_P(Precision, QuadAgreesWithFiftyDigitsToItsRounding) {
  expect_quad_within_bound_of_fifty(GetParam().problem);
}

INSTANTIATE_TEST_SUITE_P(Small, Precision, testing::ValuesIn(small_problems()),
                         [](const auto& tested) { return tested.param.name; });

TEST(Precision, QuadAgreesWithFiftyDigitsOnLargeScores) {
  Problem p = small_problems().front().problem;
  p.seq_q = 12;
  p.seq_kv = 20;
  p.head_dim = 16;
  p.scale_value = 8.0;
  expect_quad_within_bound_of_fifty(p);
}

}  // namespace
}  // namespace assay::reference
