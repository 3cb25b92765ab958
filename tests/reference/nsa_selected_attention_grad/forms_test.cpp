#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "../cases.hpp"
#include "cases.hpp"

/// Compares the gradient of selected attention with two other ways to compute it: difference
/// quotients and matrices.
namespace assay::reference {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Returns the sum of attention_out_grad * output over all elements. The gradients of this sum are
/// the results of the operator.
Quad loss(const SelectedProblem& p, const SelectedOperands<Quad>& operands) {
  const auto result = forward(p, operands);
  Quad sum(0);
  for (std::size_t k = 0; k < operands.attention_out_grad.size(); ++k)
    sum += operands.attention_out_grad[k] * result.attention_out[k];
  return sum;
}

void expect_difference_quotients(const SelectedProblem& p, SelectedOperands<Quad> operands,
                                 std::vector<Quad> SelectedOperands<Quad>::*operand,
                                 const std::vector<Quad>& gradient) {
  const Quad half_step = ldexp(Quad(1), -40);
  const Quad limit = Quad(1e-10) * largest_magnitude(gradient) + Quad(1e-20);
  ASSERT_EQ((operands.*operand).size(), gradient.size());
  for (std::size_t k = 0; k < gradient.size(); ++k) {
    Quad& element = (operands.*operand)[k];
    const Quad value = element;
    element = value + half_step;
    const Quad above = loss(p, operands);
    element = value - half_step;
    const Quad below = loss(p, operands);
    element = value;
    EXPECT_LE(abs((above - below) / (2 * half_step) - gradient[k]), limit) << "element " << k;
  }
}

class SelectedForms : public testing::TestWithParam<NamedSelection> {};
INSTANTIATE_TEST_SUITE_P(Small, SelectedForms, testing::ValuesIn(small_selections()),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(SelectedForms, DifferencesOfTheForwardAgreeTo1e10) {
  const SelectedProblem& p = GetParam().problem;
  const auto operands = consistent_operands<Quad>(p, make_lists(p, GetParam().kind));
  const auto all = all_rows(p, operands);
  EXPECT_GT(largest_magnitude(all.dv), Quad(0.1));
  expect_difference_quotients(p, operands, &SelectedOperands<Quad>::query, all.dq);
  expect_difference_quotients(p, operands, &SelectedOperands<Quad>::key, all.dk);
  expect_difference_quotients(p, operands, &SelectedOperands<Quad>::value, all.dv);
}

MatrixXd rows_of(const std::vector<double>& operand, std::int64_t first, std::int64_t rows,
                 std::int64_t dim) {
  return Eigen::Map<const RowMajor>(operand.data() + first * dim, rows, dim);
}

void add_rows(std::vector<double>& all, std::int64_t first, const RowMajor& gradient) {
  for (Eigen::Index k = 0; k < gradient.size(); ++k)
    all[static_cast<std::size_t>(first * gradient.cols() + k)] += gradient.data()[k];
}

/// The first row of one head and one sequence in each tensor, and the lengths of the sequence.
struct Place {
  std::int64_t queries, keys, lists, length_q, length_kv;
};

/// Returns a matrix with an element for each pair of query and key. It says how often the query's
/// list contains the key.
MatrixXd counts(const SelectedProblem& p, const std::vector<std::int64_t>& lists, const Place& at) {
  MatrixXd result = MatrixXd::Zero(at.length_q, at.length_kv);
  for (std::int64_t i = 0; i < at.length_q; ++i)
    for (std::int64_t slot = 0; slot < p.selected_block_count; ++slot) {
      const std::int64_t first =
          lists[static_cast<std::size_t>((at.lists + i) * p.selected_block_count + slot)] *
          p.selected_block_size;
      for (std::int64_t j = first; j < first + p.selected_block_size; ++j)
        if (p.sparse_mode == 0 || j <= i) result(i, j) += 1.0;
    }
  return result;
}

/// Adds the gradients of one head. The softmax is over keys that a list may contain several times;
/// p is the total probability of all copies of a key. The derivative uses the Jacobian diag(p) - p
/// p^T of each row.
void add_head(const SelectedProblem& p, const SelectedOperands<double>& operands, const Place& at,
              SelectedGradients<double>& all) {
  const MatrixXd query = rows_of(operands.query, at.queries, at.length_q, p.head_dim);
  const MatrixXd dy = rows_of(operands.attention_out_grad, at.queries, at.length_q, p.head_dim_v);
  const MatrixXd key = rows_of(operands.key, at.keys, at.length_kv, p.head_dim);
  const MatrixXd value = rows_of(operands.value, at.keys, at.length_kv, p.head_dim_v);
  const MatrixXd weighted =
      counts(p, operands.topk_indices, at)
          .cwiseProduct((p.scale_value * query * key.transpose()).array().exp().matrix());
  const VectorXd sum = weighted.rowwise().sum();
  const MatrixXd prob = weighted.array().colwise() / sum.array();
  const MatrixXd dprob = dy * value.transpose();
  MatrixXd dscore(prob.rows(), prob.cols());
  for (Eigen::Index i = 0; i < prob.rows(); ++i) {
    const VectorXd of_row = prob.row(i);
    const MatrixXd jacobian = MatrixXd(of_row.asDiagonal()) - of_row * of_row.transpose();
    dscore.row(i) = (jacobian * dprob.row(i).transpose()).transpose();
  }
  add_rows(all.dq, at.queries, p.scale_value * dscore * key);
  add_rows(all.dk, at.keys, p.scale_value * dscore.transpose() * query);
  add_rows(all.dv, at.keys, prob.transpose() * dy);
}

SelectedGradients<double> matrix_form(const SelectedProblem& p,
                                      const SelectedOperands<double>& operands) {
  SelectedGradients<double> all{.dq = std::vector<double>(operands.query.size(), 0.0),
                                .dk = std::vector<double>(operands.key.size(), 0.0),
                                .dv = std::vector<double>(operands.value.size(), 0.0)};
  std::int64_t start_q = 0, start_kv = 0;
  for (std::int64_t b = 0; b < p.batch; ++b) {
    const std::int64_t lq = p.length_q(b), lkv = p.length_kv(b);
    for (std::int64_t n = 0; n < p.heads_q; ++n) {
      const std::int64_t kv = n * p.heads_kv / p.heads_q;
      add_head(p, operands,
               {.queries = p.heads_q * start_q + n * lq,
                .keys = p.heads_kv * start_kv + kv * lkv,
                .lists = p.heads_kv * start_q + kv * lq,
                .length_q = lq,
                .length_kv = lkv},
               all);
    }
    start_q += lq;
    start_kv += lkv;
  }
  return all;
}

template <class Real>
void expect_near(const std::vector<Real>& gradient, const std::vector<double>& matrix) {
  ASSERT_EQ(gradient.size(), matrix.size());
  // The allowed error cannot be smaller, because Eigen's order of summation and the accuracy of
  // libm's exponential are not specified.
  const double limit = 1e-13 * (1.0 + largest_magnitude(matrix));
  for (std::size_t k = 0; k < gradient.size(); ++k)
    EXPECT_NEAR(static_cast<double>(gradient[k]), matrix[k], limit) << "element " << k;
}

template <class Real>
void expect_matrix_form(const SelectedProblem& p, ListKind kind) {
  const auto lists = make_lists(p, kind);
  const auto all = all_rows(p, consistent_operands<Real>(p, lists));
  const auto matrix = matrix_form(p, consistent_operands<double>(p, lists));
  EXPECT_GT(largest_magnitude(matrix.dv), 0.0);
  expect_near(all.dq, matrix.dq);
  expect_near(all.dk, matrix.dk);
  expect_near(all.dv, matrix.dv);
}

TEST_P(SelectedForms, AgreeWithMatricesInDouble) {
  expect_matrix_form<double>(GetParam().problem, GetParam().kind);
}
TEST_P(SelectedForms, AgreeWithMatricesInQuad) {
  expect_matrix_form<Quad>(GetParam().problem, GetParam().kind);
}

TEST(SelectedForms, AgreeWithMatricesInFiftyDigitsAndForLegalSizes) {
  const SelectedProblem small = small_selections().back().problem;
  expect_matrix_form<Fifty>(small, ListKind::shuffled);
  const SelectedProblem legal = causal({.batch = 2,
                                        .heads_q = 4,
                                        .heads_kv = 2,
                                        .seq_q = 40,
                                        .seq_kv = 64,
                                        .lengths_q = {17, 40},
                                        .lengths_kv = {48, 64}});
  for (const ListKind kind : {ListKind::shuffled, ListKind::duplicates})
    expect_matrix_form<double>(legal, kind);
}

}  // namespace
}  // namespace assay::reference
