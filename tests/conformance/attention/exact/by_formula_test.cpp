#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "assay/conformance/attention/exact_case.hpp"
#include "assay/engine/algebra/exact.hpp"
#include "assay/spec/at.hpp"
#include "attention/bound/row_terms.hpp"
#include "attention/dense.hpp"
#include "attention/formula/pair.hpp"
#include "cases.hpp"

namespace assay::conformance {
namespace {

using exact_case_test::configuration;
using exact_case_test::configurations;
using exact_case_test::family;
using Op = spec::FlashAttentionScoreGrad;
using spec::at;

template <class Row>
double product(const attention::FloatRow& x, const Row& y, std::int64_t dim) {
  double sum = 0;
  for (std::int64_t d = 0; d < dim; ++d) sum += x[d] * y[at(d)];
  return sum;
}

/// The rows of one gradient, as sums in double.
struct Rows {
  Rows(std::int64_t rows, std::int64_t channels) : dim(channels), values(at(rows * dim)) {}
  void add(std::int64_t row, double factor, const attention::FloatRow& x) {
    for (std::int64_t d = 0; d < dim; ++d) values[at(row * dim + d)] += factor * x[d];
  }
  std::int64_t dim;
  std::vector<double> values;
};

/// The gradients of a case in double. They are the sums over all pairs of query and key, with the
/// same formulas that compute the tolerances.
struct ByFormula {
  ByFormula(const Op::Problem& problem, const Op::Inputs& inputs, const spec::Numerics& numerics)
      : dense(problem, inputs),
        call(attention::call_of(dense, Arithmetic(numerics, problem.dtype))),
        dq(dense.queries.rows(), dense.width()),
        dk(dense.keys.rows(), dense.width()),
        dv(dense.keys.rows(), problem.head_dim_v) {
    for (std::int64_t row = 0; row < dense.queries.rows(); ++row)
      add_row(row, dense.queries.position(row));
  }

  void add_row(std::int64_t row, const spec::RowPosition& query) {
    const auto [b, n, i] = query;
    const std::int64_t kv = n / dense.problem.group(), dim_v = dense.problem.head_dim_v;
    const attention::FloatRow dy = dense.dy(b, n, i);
    const std::vector<double> output = dense.attention_in(b, n, i);
    const double delta =
        attention::row_term(on, call, engine::Products<double>{.sum = product(dy, output, dim_v)});
    const attention::Row<double> given = {dense.softmax_max(row), dense.softmax_sum(row), delta};
    for (const std::int64_t j : dense.key_pattern->keys(query)) {
      const auto times = static_cast<double>(dense.key_pattern->times(b, n, i, j));
      if (times == 0) continue;
      const attention::Pair<double> pair = {
          .score = {.sum = product(dense.query(b, n, i), dense.key(b, kv, j), dense.width())},
          .dprob = {.sum = product(dy, dense.value(b, kv, j), dim_v)},
          .kappa = dense.kappa(b, n, i, j),
          .bias = dense.bias(b, n, i, j)};
      const auto [dscore, prob] = attention::pair_terms(on, call, given, pair);
      const std::int64_t key = dense.keys.row(b, kv, j);
      dq.add(row, times * call.scale * dscore.number, dense.key(b, kv, j));
      dk.add(key, times * call.scale * dscore.number, dense.query(b, n, i));
      dv.add(key, times * prob.number, dy);
    }
  }

  attention::Dense dense;
  attention::Call call;
  engine::ExactReading on;
  Rows dq, dk, dv;
};

/// Counts the expected values that equal the result of the formula. Channel 0 of the expected
/// values is channel `first` of the formula's rows.
std::int64_t count_alike(const std::vector<Dyadic>& golden, const std::vector<std::int64_t>& rows,
                         const Rows& by_formula, std::int64_t first) {
  const std::int64_t dim = rows.empty() ? 0 : std::ssize(golden) / std::ssize(rows);
  std::int64_t alike = 0;
  for (std::size_t k = 0; k < golden.size(); ++k) {
    const std::int64_t row = rows[k / at(dim)], d = first + static_cast<std::int64_t>(k) % dim;
    const double value = std::ldexp(static_cast<double>(golden[k].numerator), golden[k].exponent);
    alike += value == by_formula.values[at(row * by_formula.dim + d)];
  }
  return alike;
}

/// The expected values of exact cases are computed with integers. This test compares them with an
/// independent evaluation of the formulas, without a tolerance. If the kernel rounds P and dS to 16
/// bits, both computations round them, too.
TEST(ExactCase, TheFormulaOfTolerancesGivesTheGoldens) {
  std::int64_t elements = 0, rounded = 0;
  for (const char* preset : {"ascend_a2", "cuda_flash"})
    for (const Track track : {Track::exact, Track::exact_staged}) {
      std::vector<Case<Op>> cases = family(11, track);
      for (std::int64_t k = 0; k < configurations; ++k)
        cases.push_back(configuration(k, 11, track));
      for (const Case<Op>& c : cases) {
        const Op::Problem& p = c.problem;
        spec::Numerics numerics = spec::numerics_preset(preset, p.dtype);
        AttentionExactCase golden;
        try {
          golden = Suite<Op>::exact(c, numerics);
        } catch (const NoExactCase&) {
          continue;  // no staging of this type, or no bits left for staging
        }
        const ByFormula made(p, golden.inputs, numerics);
        const auto expect_alike = [&](const std::vector<Dyadic>& of,
                                      const std::vector<std::int64_t>& rows, const Rows& by,
                                      std::int64_t first = 0) {
          ASSERT_EQ(count_alike(of, rows, by, first), std::ssize(of))
              << command_line(c) << " for " << preset;
          elements += std::ssize(of);
        };
        expect_alike(golden.dq, golden.query_rows, made.dq);
        expect_alike(golden.dk, golden.key_rows, made.dk);
        expect_alike(golden.dv, golden.key_rows, made.dv);
        expect_alike(golden.dq_rope, golden.query_rows, made.dq, p.head_dim);
        expect_alike(golden.dk_rope, golden.key_rows, made.dk, p.head_dim);
        if (track != Track::exact_staged) continue;
        numerics.stage = spec::DType::fp32;
        rounded += ByFormula(p, golden.inputs, numerics).dq.values != made.dq.values;
      }
    }
  EXPECT_GT(elements, 500'000);
  EXPECT_GT(rounded, 50) << "too few cases in which rounding dS changes dq";
}

}  // namespace
}  // namespace assay::conformance
