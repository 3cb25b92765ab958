#include <gtest/gtest.h>

#include "cases.hpp"

namespace assay::reference {
namespace {

using std::abs;

/// Sums of the magnitudes of all that is added up in an element of the gradients, and the largest |score|.
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

Magnitudes magnitudes(const Problem& p, const Operands<Quad>& operands, const spec::Tensor* mask) {
  const FlashAttentionScoreGrad<Quad> gradient(p, operands, mask);
  const Quad scale = abs(Quad(static_cast<float>(p.scale_value)));
  Magnitudes result{.sums = {.dq = std::vector<Quad>(operands.query.size(), 0),
                             .dk = std::vector<Quad>(operands.key.size(), 0),
                             .dv = std::vector<Quad>(operands.value.size(), 0)}};
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t n = 0; n < p.heads_q; ++n)
      for (std::int64_t i = 0; i < p.seq_q; ++i)
        for (std::int64_t j = 0; j < p.seq_kv; ++j) {
          const Pair<Quad> pair = gradient.pair(b, n, i, j);
          const std::int64_t query = (b * p.heads_q + n) * p.seq_q + i;
          const std::int64_t key = (b * p.heads_kv + n / p.group()) * p.seq_kv + j;
          const std::int64_t dim_v = p.head_dim_v;
          const Quad dscore =
              pair.prob *
              (dot_of_magnitudes(operands.dy, query, operands.value, key, dim_v) +
               dot_of_magnitudes(operands.dy, query, operands.attention_in, query, dim_v));
          add_magnitudes(result.sums.dq, query, scale * dscore, operands.key, key, p.head_dim);
          add_magnitudes(result.sums.dk, key, scale * dscore, operands.query, query, p.head_dim);
          add_magnitudes(result.sums.dv, key, pair.prob, operands.dy, query, dim_v);
          if (abs(pair.score) > result.score) result.score = abs(pair.score);
        }
  return result;
}

void expect_within(const std::vector<Quad>& quad, const std::vector<Fifty>& fifty,
                   const std::vector<Quad>& magnitude, const Quad& factor) {
  ASSERT_EQ(quad.size(), fifty.size());
  for (std::size_t k = 0; k < quad.size(); ++k)
    EXPECT_LE(abs(Fifty(quad[k]) - fifty[k]), Fifty(factor * magnitude[k])) << "element " << k;
}

void expect_quad_within_bound_of_fifty(const Problem& p) {
  const auto mask = make_mask(p);
  // The statistics of the double forward: the same numbers for both types.
  const auto given = consistent_operands<double>(p, pointer(mask));
  const auto convert = [&]<class Real>(Real) {
    const auto as = [](const std::vector<double>& v) { return std::vector<Real>(v.begin(), v.end()); };
    return Operands<Real>{as(given.query), as(given.key), as(given.value), as(given.dy),
                          as(given.softmax_max), as(given.softmax_sum), as(given.attention_in)};
  };
  const Operands<Quad> operands = convert(Quad());
  const auto quad = all_rows(p, FlashAttentionScoreGrad<Quad>(p, operands, pointer(mask)));
  const auto fifty =
      all_rows(p, FlashAttentionScoreGrad<Fifty>(p, convert(Fifty()), pointer(mask)));
  const Magnitudes bound = magnitudes(p, operands, pointer(mask));
  const Quad factor = (2 * p.head_dim + p.seq_kv + 4 + bound.score) * ldexp(Quad(1), -112);
  expect_within(quad.dq, fifty.dq, bound.sums.dq, factor);
  expect_within(quad.dk, fifty.dk, bound.sums.dk, factor);
  expect_within(quad.dv, fifty.dv, bound.sums.dv, factor);
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
