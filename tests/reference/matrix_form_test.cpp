#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>

#include "cases.hpp"

namespace assay::reference {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Head `index` of a dense (heads, seq, dim) operand.
MatrixXd head(const std::vector<double>& operand, std::int64_t index, std::int64_t seq,
              std::int64_t dim) {
  return Eigen::Map<const RowMajor>(operand.data() + index * seq * dim, seq, dim);
}

/// 1 where the score is kept: written for this test from the table of sparse modes.
MatrixXd kept(const Problem& p, const spec::Tensor* mask, std::int64_t b, std::int64_t n) {
  MatrixXd result = MatrixXd::Ones(p.seq_q, p.seq_kv);
  if (mask == nullptr) return result;
  const std::int64_t page = p.seq_q * p.seq_kv;
  const std::int64_t first = p.atten_mask == spec::MaskShape::bnss       ? (b * p.heads_q + n) * page
                             : p.atten_mask == spec::MaskShape::b_one_ss ? b * page
                                                                         : 0;
  for (std::int64_t i = 0; i < p.seq_q; ++i)
    for (std::int64_t j = 0; j < p.seq_kv; ++j) {
      const bool excluded = p.sparse_mode == 2   ? j > i
                            : p.sparse_mode == 3 ? p.seq_q - i > p.seq_kv - j
                            : p.sparse_mode == 4 ? j - i > p.seq_kv - p.seq_q + p.next_tokens ||
                                                       i - j > p.seq_q - p.seq_kv + p.pre_tokens
                                                 : mask->load(first + i * p.seq_kv + j) != 0.0;
      if (excluded) result(i, j) = 0.0;
    }
  return result;
}

/// Softmax of every row; a row without kept score is 0.
MatrixXd softmax(const MatrixXd& score, const MatrixXd& kept) {
  constexpr double excluded = -std::numeric_limits<double>::infinity();
  const MatrixXd masked = (kept.array() > 0.0).select(score, excluded);
  const VectorXd max = masked.rowwise().maxCoeff().cwiseMax(-1e300);
  const MatrixXd power = (masked.colwise() - max).array().exp();
  const VectorXd sum = power.rowwise().sum().cwiseMax(1e-300);
  return power.array().colwise() / sum.array();
}

/// d(loss)/d(score) through the Jacobian diag(p) - p p^T of each row's softmax: no row term, no attention_in.
MatrixXd through_jacobian(const MatrixXd& prob, const MatrixXd& dprob) {
  MatrixXd dscore(prob.rows(), prob.cols());
  for (Eigen::Index i = 0; i < prob.rows(); ++i) {
    const VectorXd p = prob.row(i);
    const MatrixXd jacobian = MatrixXd(p.asDiagonal()) - p * p.transpose();
    dscore.row(i) = (jacobian * dprob.row(i).transpose()).transpose();
  }
  return dscore;
}

void add_head(std::vector<double>& all, std::int64_t index, const RowMajor& gradient) {
  for (Eigen::Index k = 0; k < gradient.size(); ++k)
    all[static_cast<std::size_t>(index * gradient.size() + k)] += gradient.data()[k];
}

Gradients<double> matrix_form(const Problem& p, const Operands<double>& operands,
                              const spec::Tensor* mask) {
  Gradients<double> all{.dq = std::vector<double>(operands.query.size(), 0.0),
                        .dk = std::vector<double>(operands.key.size(), 0.0),
                        .dv = std::vector<double>(operands.value.size(), 0.0)};
  const double scale = static_cast<float>(p.scale_value);
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t n = 0; n < p.heads_q; ++n) {
      const std::int64_t q_head = b * p.heads_q + n;
      const std::int64_t kv_head = b * p.heads_kv + n * p.heads_kv / p.heads_q;
      const MatrixXd query = head(operands.query, q_head, p.seq_q, p.head_dim);
      const MatrixXd key = head(operands.key, kv_head, p.seq_kv, p.head_dim);
      const MatrixXd value = head(operands.value, kv_head, p.seq_kv, p.head_dim_v);
      const MatrixXd dy = head(operands.dy, q_head, p.seq_q, p.head_dim_v);
      const MatrixXd prob = softmax(scale * query * key.transpose(), kept(p, mask, b, n));
      const MatrixXd dscore = through_jacobian(prob, dy * value.transpose());
      add_head(all.dq, q_head, scale * dscore * key);
      add_head(all.dk, kv_head, scale * dscore.transpose() * query);
      add_head(all.dv, kv_head, prob.transpose() * dy);
    }
  return all;
}

template <class Real>
void expect_agreement(const std::vector<Real>& gradient, const std::vector<double>& matrix) {
  ASSERT_EQ(gradient.size(), matrix.size());
  // Not tighter: Eigen's order of summation and libm's exponential are not specified.
  const double limit = 1e-13 * (1.0 + largest_magnitude(matrix));
  for (std::size_t k = 0; k < gradient.size(); ++k)
    EXPECT_NEAR(static_cast<double>(gradient[k]), matrix[k], limit) << "element " << k;
}

template <class Real>
void expect_agreement(const Problem& p) {
  const auto mask = make_mask(p);
  const auto operands = consistent_operands<Real>(p, pointer(mask));
  const auto rows = all_rows(p, FlashAttentionScoreGrad<Real>(p, operands, pointer(mask)));
  const auto matrix =
      matrix_form(p, consistent_operands<double>(p, pointer(mask)), pointer(mask));
  expect_agreement(rows.dq, matrix.dq);
  expect_agreement(rows.dk, matrix.dk);
  expect_agreement(rows.dv, matrix.dv);
}

class MatrixForm : public testing::TestWithParam<NamedProblem> {};

TEST_P(MatrixForm, AgreesWithTheReferenceInDouble) { expect_agreement<double>(GetParam().problem); }
TEST_P(MatrixForm, AgreesWithTheReferenceInQuad) { expect_agreement<Quad>(GetParam().problem); }

INSTANTIATE_TEST_SUITE_P(Small, MatrixForm, testing::ValuesIn(small_problems()),
                         [](const auto& tested) { return tested.param.name; });

TEST(MatrixForm, AgreesWithTheReferenceForAHundredKeys) {
  Problem p = small_problems().front().problem;
  p.seq_q = 37;
  p.seq_kv = 100;
  p.head_dim = 24;
  p.head_dim_v = 17;
  p.scale_value = 0.25;
  expect_agreement<double>(p);
}

}  // namespace
}  // namespace assay::reference
