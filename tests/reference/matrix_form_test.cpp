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

/// The first rows, the first score and the lengths of a sequence. This test computes them without
/// `spec::Extents`.
struct Sequence {
  std::int64_t b = 0, start_q = 0, start_kv = 0, scores_before = 0, length_q = 0, length_kv = 0;
};

std::vector<Sequence> sequences(const Problem& p) {
  std::vector<Sequence> list;
  Sequence at;
  for (at.b = 0; at.b < p.batch; ++at.b) {
    const auto index = static_cast<std::size_t>(at.b);
    at.length_q = p.lengths_q.empty() ? p.seq_q : p.lengths_q[index];
    at.length_kv = p.lengths_kv.empty() ? p.seq_kv : p.lengths_kv[index];
    list.push_back(at);
    at.start_q += at.length_q;
    at.start_kv += at.length_kv;
    at.scores_before += p.heads_q * at.length_q * at.length_kv;
  }
  return list;
}

/// Returns `seq` rows of an operand, starting at row `first`.
MatrixXd rows_of(const std::vector<double>& operand, std::int64_t first, std::int64_t seq,
                 std::int64_t dim) {
  return Eigen::Map<const RowMajor>(operand.data() + first * dim, seq, dim);
}

/// Returns the sequence to which sparse modes 7 and 8 apply the band mask.
std::int64_t band_sequence(const Problem& p) {
  std::int64_t first = -1, last = -1;
  for (const Sequence& at : sequences(p)) {
    if (at.length_q == 0) continue;
    if (first < 0) first = at.b;
    last = at.b;
  }
  return p.sparse_mode == 7 ? last : first;
}

/// Returns whether the mask excludes score (i, j) of sequence `at`. This function was written for
/// this test, from the documented table of sparse modes.
bool excluded(const Problem& p, std::int64_t mode, const Sequence& at, std::int64_t i,
              std::int64_t j) {
  const bool right_of_corner = at.length_q - i > at.length_kv - j;
  switch (mode) {
    case 2:
      return j > i;
    case 3:
      return right_of_corner;
    case 4:
      return j - i > at.length_kv - at.length_q + p.next_tokens ||
             i - j > at.length_q - at.length_kv + p.pre_tokens;
    case 6:
      return right_of_corner && j >= p.prefix[static_cast<std::size_t>(at.b)];
    case 7:
      return excluded(p, at.b == band_sequence(p) ? 4 : 3, at, i, j);
    default:
      return excluded(p, at.b == band_sequence(p) ? 4 : 2, at, i, j);
  }
}

/// Returns a matrix with 1 for an unmasked score and 0 for a masked one.
MatrixXd kept(const Problem& p, const spec::Tensor* mask, const Sequence& at, std::int64_t n) {
  MatrixXd result = MatrixXd::Ones(at.length_q, at.length_kv);
  if (mask == nullptr) return result;
  const std::int64_t page = p.seq_q * p.seq_kv;
  const std::int64_t first = p.atten_mask == spec::MaskShape::bnss ? (at.b * p.heads_q + n) * page
                             : p.atten_mask == spec::MaskShape::b_one_ss ? at.b * page
                                                                         : 0;
  const bool user_mask = p.sparse_mode < 2 || p.sparse_mode == 5;
  for (std::int64_t i = 0; i < at.length_q; ++i)
    for (std::int64_t j = 0; j < at.length_kv; ++j)
      if (user_mask ? mask->load(first + i * p.seq_kv + j) != 0.0
                    : excluded(p, p.sparse_mode, at, i, j))
        result(i, j) = 0.0;
  return result;
}

/// Returns the index of the bias for (b, n, i, j) in the contiguous tensor pse. Applies to pse
/// types 0 and 1 only.
std::int64_t pse_element(const Problem& p, const Sequence& at, std::int64_t n, std::int64_t i,
                         std::int64_t j) {
  using enum spec::PseShape;
  const std::int64_t head = at.b * p.heads_q + n;
  switch (p.pse_shift) {
    case bnss:
      return (head * p.seq_q + i) * p.seq_kv + j;
    case bn1s:
      return head * p.seq_kv + j;
    case one_nss:
      return (n * p.seq_q + i) * p.seq_kv + j;
    case packed_bn1s:
      return p.heads_q * at.start_kv + n * at.length_kv + j;
    default:
      return at.scores_before + (n * at.length_q + i) * at.length_kv + j;
  }
}

/// Returns the bias as a matrix. With pse type 1 the caller adds the bias before scaling, with
/// other types after scaling.
MatrixXd bias(const Problem& p, const spec::Tensor* pse, const Sequence& at, std::int64_t n) {
  MatrixXd result = MatrixXd::Zero(at.length_q, at.length_kv);
  if (pse == nullptr) return result;
  const bool started = !p.q_start_idx.empty() && !p.kv_start_idx.empty();
  const std::int64_t shift = started ? p.kv_start_idx[0] - p.q_start_idx[0] : 0;
  const std::int64_t head = p.pse_shift == spec::PseShape::slopes_bn ? at.b * p.heads_q + n : n;
  for (std::int64_t i = 0; i < at.length_q; ++i)
    for (std::int64_t j = 0; j < at.length_kv; ++j) {
      const double distance = std::abs(static_cast<double>(j + shift - i));
      result(i, j) = p.pse_type < 2    ? pse->load(pse_element(p, at, n, i, j))
                     : p.pse_type == 2 ? -pse->load(head) * distance
                                       : -pse->load(head) * std::sqrt(distance);
    }
  return result;
}

/// Returns the dropout factors as a matrix: 1 / keep_prob where the bit is set, otherwise 0.
MatrixXd dropout(const Problem& p, const spec::Tensor* mask, const Sequence& at, std::int64_t n) {
  MatrixXd result = MatrixXd::Ones(at.length_q, at.length_kv);
  if (p.keep_prob == 1.0) return result;
  const double kept = 1.0 / static_cast<double>(static_cast<float>(p.keep_prob));
  std::int64_t bit = at.scores_before + n * at.length_q * at.length_kv;
  for (std::int64_t i = 0; i < at.length_q; ++i)
    for (std::int64_t j = 0; j < at.length_kv; ++j, ++bit) {
      const auto byte = static_cast<std::int64_t>(mask->load(bit / 8));
      result(i, j) = (byte / (std::int64_t{1} << (bit % 8))) % 2 == 1 ? kept : 0.0;
    }
  return result;
}

/// Returns the softmax of every row. A fully masked row is 0.
MatrixXd softmax(const MatrixXd& score, const MatrixXd& kept) {
  constexpr double excluded = -std::numeric_limits<double>::infinity();
  const MatrixXd masked = (kept.array() > 0.0).select(score, excluded);
  const VectorXd max = masked.rowwise().maxCoeff().cwiseMax(-1e300);
  const MatrixXd power = (masked.colwise() - max).array().exp();
  const VectorXd sum = power.rowwise().sum().cwiseMax(1e-300);
  return power.array().colwise() / sum.array();
}

/// Returns the derivative of the loss with respect to the scores. It is computed with the Jacobian
/// diag(p) - p p^T of each row's softmax, without a row term and without attention_in.
MatrixXd through_jacobian(const MatrixXd& prob, const MatrixXd& dprob) {
  MatrixXd dscore(prob.rows(), prob.cols());
  for (Eigen::Index i = 0; i < prob.rows(); ++i) {
    const VectorXd p = prob.row(i);
    const MatrixXd jacobian = MatrixXd(p.asDiagonal()) - p * p.transpose();
    dscore.row(i) = (jacobian * dprob.row(i).transpose()).transpose();
  }
  return dscore;
}

void add_rows(std::vector<double>& all, std::int64_t first, const RowMajor& gradient) {
  for (Eigen::Index k = 0; k < gradient.size(); ++k)
    all[static_cast<std::size_t>(first * gradient.cols() + k)] += gradient.data()[k];
}

Gradients<double> zeros_like(const Operands<double>& operands) {
  const auto zeros = [](const std::vector<double>& like) {
    return std::vector<double>(like.size(), 0.0);
  };
  return {.dq = zeros(operands.query),
          .dk = zeros(operands.key),
          .dv = zeros(operands.value),
          .dq_rope = zeros(operands.query_rope),
          .dk_rope = zeros(operands.key_rope)};
}

void add_head(const Problem& p, const Operands<double>& operands, const SideInputs& side,
              const std::pair<Sequence, std::int64_t>& at_head, Gradients<double>& all) {
  const auto& [at, n] = at_head;
  const std::int64_t lq = at.length_q, lkv = at.length_kv;
  const std::int64_t q_row = p.heads_q * at.start_q + n * lq;
  const std::int64_t kv_row = p.heads_kv * at.start_kv + n * p.heads_kv / p.heads_q * lkv;
  const MatrixXd query = rows_of(operands.query, q_row, lq, p.head_dim);
  const MatrixXd key = rows_of(operands.key, kv_row, lkv, p.head_dim);
  const MatrixXd value = rows_of(operands.value, kv_row, lkv, p.head_dim_v);
  const MatrixXd dy = rows_of(operands.dy, q_row, lq, p.head_dim_v);
  const MatrixXd query_rope = rows_of(operands.query_rope, q_row, lq, p.head_dim_rope);
  const MatrixXd key_rope = rows_of(operands.key_rope, kv_row, lkv, p.head_dim_rope);
  const double scale = static_cast<float>(p.scale_value);
  const MatrixXd product = query * key.transpose() + query_rope * key_rope.transpose();
  const MatrixXd added = bias(p, side.pse_shift, at, n);
  const MatrixXd score = scale * product + (p.pse_type == 1 ? scale : 1.0) * added;
  const MatrixXd prob = softmax(score, kept(p, side.atten_mask, at, n));
  const MatrixXd factor = dropout(p, side.drop_mask, at, n);
  const MatrixXd dprob = (dy * value.transpose()).cwiseProduct(factor);
  const MatrixXd dscore = through_jacobian(prob, dprob);
  add_rows(all.dq, q_row, scale * dscore * key);
  add_rows(all.dk, kv_row, scale * dscore.transpose() * query);
  add_rows(all.dv, kv_row, prob.cwiseProduct(factor).transpose() * dy);
  add_rows(all.dq_rope, q_row, scale * dscore * key_rope);
  add_rows(all.dk_rope, kv_row, scale * dscore.transpose() * query_rope);
}

Gradients<double> matrix_form(const Problem& p, const Operands<double>& operands,
                              const SideInputs& side) {
  Gradients<double> all = zeros_like(operands);
  for (const Sequence& at : sequences(p))
    for (std::int64_t n = 0; n < p.heads_q; ++n)
      if (at.length_q > 0 && at.length_kv > 0) add_head(p, operands, side, {at, n}, all);
  return all;
}

template <class Real>
void expect_equal_rows(const std::vector<Real>& gradient, const std::vector<double>& matrix) {
  ASSERT_EQ(gradient.size(), matrix.size());
  // The allowed error cannot be smaller, because Eigen's order of summation and the accuracy of
  // libm's exponential are not specified.
  const double limit = 1e-13 * (1.0 + largest_magnitude(matrix));
  for (std::size_t k = 0; k < gradient.size(); ++k)
    EXPECT_NEAR(static_cast<double>(gradient[k]), matrix[k], limit) << "element " << k;
}

template <class Real>
void expect_matrix_form(const Problem& p) {
  const OwnedSides sides = make_sides(p);
  const auto operands = consistent_operands<Real>(p, sides.refer());
  const auto rows = all_rows(p, FlashAttentionScoreGrad<Real>(p, operands, sides.refer()));
  const auto matrix = matrix_form(p, consistent_operands<double>(p, sides.refer()), sides.refer());
  EXPECT_GT(largest_magnitude(matrix.dv), 0.0);
  expect_equal_rows(rows.dq, matrix.dq);
  expect_equal_rows(rows.dk, matrix.dk);
  expect_equal_rows(rows.dv, matrix.dv);
  expect_equal_rows(rows.dq_rope, matrix.dq_rope);
  expect_equal_rows(rows.dk_rope, matrix.dk_rope);
}

class MatrixForm : public testing::TestWithParam<NamedProblem> {};

TEST_P(MatrixForm, AgreesWithTheReferenceInDouble) {
  expect_matrix_form<double>(GetParam().problem);
}
TEST_P(MatrixForm, AgreesWithTheReferenceInQuad) { expect_matrix_form<Quad>(GetParam().problem); }

INSTANTIATE_TEST_SUITE_P(Small, MatrixForm, testing::ValuesIn(small_problems()),
                         [](const auto& tested) { return tested.param.name; });

TEST(MatrixForm, AgreesWithTheReferenceForAHundredKeys) {
  Problem p = small_problems().front().problem;
  p.seq_q = 37;
  p.seq_kv = 100;
  p.head_dim = 24;
  p.head_dim_v = 17;
  p.scale_value = 0.25;
  expect_matrix_form<double>(p);
}

}  // namespace
}  // namespace assay::reference
