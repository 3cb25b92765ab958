#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <ostream>
#include <string>

#include "../cases.hpp"
#include "../filled.hpp"
#include "assay/reference/nsa_compress.hpp"
#include "assay/reference/nsa_compress_grad.hpp"

namespace assay::reference {
namespace {

using CompressProblem = spec::NsaCompressGrad::Problem;
using CompressInputs = spec::NsaCompressGrad::Inputs;

struct NamedCompression {
  std::string name;
  CompressProblem problem;
};
void PrintTo(const NamedCompression& named, std::ostream* out) { *out << named.name; }

struct Windows {
  std::int64_t size, stride;
};

/// Pairs of window size and stride. With most of them, two or more windows contain a token; some
/// sizes are multiples of the stride, some are not. The last two give adjacent windows and windows
/// with gaps, which are not legal.
constexpr Windows windows[] = {{2, 1}, {3, 2}, {4, 2}, {5, 2}, {6, 1}, {3, 3}, {2, 3}};

/// Returns problems with one or several sequences: empty at the start, in the middle and at the
/// end; shorter than a window; exactly one window; longer than the last window.
std::vector<NamedCompression> small_compressions() {
  std::vector<NamedCompression> compressions;
  for (const auto& [size, stride] : windows) {
    const CompressProblem p{.heads = 2,
                            .seq = size + 2 * stride,
                            .head_dim = 3,
                            .compress_block_size = size,
                            .compress_stride = stride};
    const std::string name = std::to_string(size) + "_every_" + std::to_string(stride);
    compressions.push_back({name, p});
    CompressProblem ragged = p;
    ragged.lengths = {0, size + 3 * stride - 1, size - 1, 0, size, 2 * size + stride, size - 1};
    ragged.batch = static_cast<std::int64_t>(ragged.lengths.size());
    ragged.seq = std::ranges::max(ragged.lengths);
    compressions.push_back({name + "_ragged", ragged});
  }
  return compressions;
}

template <class Real>
std::vector<Real> elements_as(std::uint64_t seed, std::int64_t count) {
  std::vector<Real> values;
  for (std::int64_t k = 0; k < count; ++k) values.push_back(Real(element(seed, k)));
  return values;
}

template <class Real>
CompressOperands<Real> make_operands(const CompressProblem& p) {
  const spec::Extents inputs = input_extents(p), outputs = output_extents(p);
  return {.output_grad = elements_as<Real>(1, outputs.rows() * outputs.dim),
          .input = elements_as<Real>(2, inputs.rows() * inputs.dim),
          .weight = elements_as<Real>(3, p.compress_block_size * p.heads)};
}

template <class Real>
struct CompressGradients {
  std::vector<Real> input, weight;
  friend bool operator==(const CompressGradients&, const CompressGradients&) = default;
};

template <class Real>
CompressGradients<Real> all_rows(const CompressProblem& p, const NsaCompressGrad<Real>& gradient) {
  CompressGradients<Real> all;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t n = 0; n < p.heads; ++n)
      for (std::int64_t s = 0; s < p.length(b); ++s) {
        const auto row = gradient.input_grad_row(b, n, s);
        all.input.insert(all.input.end(), row.begin(), row.end());
      }
  for (std::int64_t w = 0; w < p.compress_block_size; ++w)
    for (std::int64_t n = 0; n < p.heads; ++n) all.weight.push_back(gradient.weight_grad(w, n));
  return all;
}

template <class Real>
CompressGradients<Real> all_rows(const CompressProblem& p, const CompressOperands<Real>& operands) {
  return all_rows(p, NsaCompressGrad<Real>(p, operands));
}

template <class Real>
Real product(const std::vector<Real>& a, const std::vector<Real>& b) {
  EXPECT_EQ(a.size(), b.size());
  Real sum(0);
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

std::vector<Quad> output_of(const CompressProblem& p, const CompressOperands<Quad>& operands) {
  const NsaCompress<Quad> definition(p, {operands.input, operands.weight});
  std::vector<Quad> output;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t n = 0; n < p.heads; ++n)
      for (std::int64_t i = 0; i < output_extents(p).length(b); ++i) {
        const auto row = definition.output_row(b, n, i);
        output.insert(output.end(), row.begin(), row.end());
      }
  return output;
}

Quad loss(const CompressProblem& p, const CompressOperands<Quad>& operands) {
  return product(operands.output_grad, output_of(p, operands));
}

class Compression : public testing::TestWithParam<NamedCompression> {};
INSTANTIATE_TEST_SUITE_P(Small, Compression, testing::ValuesIn(small_compressions()),
                         [](const auto& tested) { return tested.param.name; });

void expect_difference_quotients(const CompressProblem& p, CompressOperands<Quad> operands,
                                 std::vector<Quad> CompressOperands<Quad>::*operand,
                                 const std::vector<Quad>& gradient) {
  const Quad half_step = ldexp(Quad(1), -20);
  ASSERT_EQ((operands.*operand).size(), gradient.size());
  for (std::size_t k = 0; k < gradient.size(); ++k) {
    Quad& element = (operands.*operand)[k];
    const Quad value = element;
    element = value + half_step;
    const Quad above = loss(p, operands);
    element = value - half_step;
    const Quad below = loss(p, operands);
    element = value;
    EXPECT_LE(abs((above - below) / (2 * half_step) - gradient[k]), Quad(1e-10)) << "element " << k;
  }
}

TEST_P(Compression, DifferencesOfTheForwardAgreeTo1e10) {
  const CompressProblem& p = GetParam().problem;
  const auto operands = make_operands<Quad>(p);
  const auto all = all_rows(p, operands);
  EXPECT_GT(largest_magnitude(all.input), Quad(0.1));
  EXPECT_GT(largest_magnitude(all.weight), Quad(0.1));
  expect_difference_quotients(p, operands, &CompressOperands<Quad>::input, all.input);
  expect_difference_quotients(p, operands, &CompressOperands<Quad>::weight, all.weight);
}

using Eigen::MatrixXd;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Returns a matrix for head n. Row i contains the weights at the position of window i in the
/// sequence.
MatrixXd window_matrix(const CompressProblem& p, const std::vector<double>& weight, std::int64_t n,
                       std::int64_t rows, std::int64_t tokens) {
  MatrixXd result = MatrixXd::Zero(rows, tokens);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t w = 0; w < p.compress_block_size; ++w)
      result(i, i * p.compress_stride + w) = weight[static_cast<std::size_t>(w * p.heads + n)];
  return result;
}

/// Computes the gradients as the documentation does: dk = W^T dk_cmp, and dw contains the sums of
/// dk_cmp K^T along the windows.
CompressGradients<double> matrix_form(const CompressProblem& p,
                                      const CompressOperands<double>& operands) {
  CompressGradients<double> all{.input = {},
                                .weight = std::vector<double>(operands.weight.size(), 0.0)};
  std::int64_t input_row = 0, output_row = 0;
  for (std::int64_t b = 0; b < p.batch; ++b) {
    const std::int64_t tokens = p.length(b);
    std::int64_t rows = 0;
    while (rows * p.compress_stride + p.compress_block_size <= tokens) ++rows;
    for (std::int64_t n = 0; n < p.heads; ++n) {
      const MatrixXd gradient = Eigen::Map<const RowMajor>(
          operands.output_grad.data() + output_row * p.head_dim, rows, p.head_dim);
      const MatrixXd input = Eigen::Map<const RowMajor>(
          operands.input.data() + input_row * p.head_dim, tokens, p.head_dim);
      const RowMajor dk = window_matrix(p, operands.weight, n, rows, tokens).transpose() * gradient;
      all.input.insert(all.input.end(), dk.data(), dk.data() + dk.size());
      const MatrixXd outer = gradient * input.transpose();
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t w = 0; w < p.compress_block_size; ++w)
          all.weight[static_cast<std::size_t>(w * p.heads + n)] +=
              outer(i, i * p.compress_stride + w);
      input_row += tokens;
      output_row += rows;
    }
  }
  return all;
}

template <class Real>
void expect_near(const std::vector<Real>& gradient, const std::vector<double>& matrix) {
  ASSERT_EQ(gradient.size(), matrix.size());
  for (std::size_t k = 0; k < gradient.size(); ++k)
    EXPECT_NEAR(static_cast<double>(gradient[k]), matrix[k], 1e-13) << "element " << k;
}

template <class Real>
void expect_matrix_form(const CompressProblem& p) {
  const auto all = all_rows(p, make_operands<Real>(p));
  const auto matrix = matrix_form(p, make_operands<double>(p));
  expect_near(all.input, matrix.input);
  expect_near(all.weight, matrix.weight);
}

TEST_P(Compression, AgreesWithMatricesInDouble) { expect_matrix_form<double>(GetParam().problem); }
TEST_P(Compression, AgreesWithMatricesInQuad) { expect_matrix_form<Quad>(GetParam().problem); }
TEST_P(Compression, AgreesWithMatricesInFifty) { expect_matrix_form<Fifty>(GetParam().problem); }

TEST_P(Compression, IsBilinear) {
  const CompressProblem& p = GetParam().problem;
  const auto operands = make_operands<Quad>(p);
  const auto all = all_rows(p, operands);
  const Quad value = loss(p, operands);
  EXPECT_LT(abs(product(all.input, operands.input) - value), Quad(1e-30));
  EXPECT_LT(abs(product(all.weight, operands.weight) - value), Quad(1e-30));
}

TEST_P(Compression, IsLinearInItsGradient) {
  const CompressProblem& p = GetParam().problem;
  auto first = make_operands<Quad>(p), second = first, sum = first;
  second.output_grad = elements_as<Quad>(9, static_cast<std::int64_t>(first.output_grad.size()));
  for (std::size_t k = 0; k < sum.output_grad.size(); ++k)
    sum.output_grad[k] = 3 * first.output_grad[k] + second.output_grad[k];
  const auto of_first = all_rows(p, first), of_second = all_rows(p, second);
  auto of_sum = all_rows(p, sum);
  // The numbers are multiples of 2^-18 below 2^10, so the sums are exact.
  for (std::size_t k = 0; k < of_sum.input.size(); ++k)
    EXPECT_EQ(of_sum.input[k], 3 * of_first.input[k] + of_second.input[k]);
  for (std::size_t k = 0; k < of_sum.weight.size(); ++k)
    EXPECT_EQ(of_sum.weight[k], 3 * of_first.weight[k] + of_second.weight[k]);
}

TEST_P(Compression, NeitherGradientReadsItsOwnOperand) {
  const CompressProblem& p = GetParam().problem;
  const auto operands = make_operands<double>(p);
  const auto all = all_rows(p, operands);
  auto other = operands;
  other.input = elements_as<double>(8, static_cast<std::int64_t>(operands.input.size()));
  EXPECT_EQ(all_rows(p, other).input, all.input);
  other = operands;
  other.weight = elements_as<double>(8, static_cast<std::int64_t>(operands.weight.size()));
  EXPECT_EQ(all_rows(p, other).weight, all.weight);
}

/// Returns the elements of an operand that belong to sequence b.
std::vector<double> part(const std::vector<double>& all, const spec::Extents& e, std::int64_t b) {
  const auto first = all.begin() + e.row(b, 0, 0) * e.dim;
  return {first, first + e.length(b) * e.heads * e.dim};
}

TEST_P(Compression, SequencesAreIndependent) {
  const CompressProblem& p = GetParam().problem;
  const auto operands = make_operands<double>(p);
  const auto together = all_rows(p, operands);
  std::vector<double> weight(together.weight.size(), 0.0);
  for (std::int64_t b = 0; b < p.batch; ++b) {
    CompressProblem alone = p;
    alone.batch = 1;
    alone.lengths.clear();
    alone.seq = p.length(b);
    const auto own =
        all_rows<double>(alone, {.output_grad = part(operands.output_grad, output_extents(p), b),
                                 .input = part(operands.input, input_extents(p), b),
                                 .weight = operands.weight});
    EXPECT_EQ(own.input, part(together.input, input_extents(p), b));
    for (std::size_t k = 0; k < weight.size(); ++k) weight[k] += own.weight[k];
  }
  EXPECT_EQ(weight, together.weight);  // exact, as above
}

TEST_P(Compression, OnesCountTheWindowsOfEveryToken) {
  const CompressProblem& p = GetParam().problem;
  auto operands = make_operands<double>(p);
  std::ranges::fill(operands.weight, 1.0);
  std::ranges::fill(operands.output_grad, 1.0);
  const NsaCompressGrad<double> gradient(p, operands);
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t s = 0; s < p.length(b); ++s) {
      double covering = 0;
      for (std::int64_t first = 0; first + p.compress_block_size <= p.length(b);
           first += p.compress_stride)
        if (first <= s && s < first + p.compress_block_size) ++covering;
      EXPECT_EQ(gradient.input_grad_row(b, 1, s), std::vector<double>(3, covering))
          << "sequence " << b << " token " << s;
    }
}

TEST(NsaCompressGrad, TwoWindowsOverAFewTokensAgreeWithHandComputation) {
  // The first window contains the tokens 0 and 1, the second the tokens 1 and 2. The weights are 2,
  // 3, and the gradients 5, 7.
  const CompressProblem p{.seq = 3, .head_dim = 1, .compress_block_size = 2, .compress_stride = 1};
  const CompressOperands<Quad> operands{
      .output_grad = {5, 7}, .input = {1, 10, 100}, .weight = {2, 3}};
  EXPECT_EQ(output_of(p, operands), (std::vector<Quad>{32, 320}));
  const auto all = all_rows(p, operands);
  EXPECT_EQ(all.input, (std::vector<Quad>{10, 29, 21}));  // 2*5, 3*5 + 2*7, 3*7
  EXPECT_EQ(all.weight, (std::vector<Quad>{75, 750}));    // 5*1 + 7*10, 5*10 + 7*100
}

/// Adjacent windows, which are not legal: the documentation requires that windows overlap.
TEST(NsaCompressGrad, WindowsSideBySideAreBlockDiagonal) {
  const CompressProblem p{
      .heads = 2, .seq = 14, .head_dim = 3, .compress_block_size = 4, .compress_stride = 4};
  const auto operands = make_operands<double>(p);
  const NsaCompressGrad<double> gradient(p, operands);
  const spec::Extents outputs = output_extents(p);
  for (std::int64_t n = 0; n < 2; ++n)
    for (std::int64_t s = 0; s < 14; ++s)
      for (std::int64_t c = 0; c < 3; ++c) {
        const double expected =
            s >= 12
                ? 0.0
                : operands.weight[static_cast<std::size_t>(s % 4 * 2 + n)] *
                      operands
                          .output_grad[static_cast<std::size_t>(outputs.row(0, n, s / 4) * 3 + c)];
        EXPECT_EQ(gradient.input_grad_row(0, n, s)[static_cast<std::size_t>(c)], expected);
      }
}

TEST(NsaCompressGrad, ALeadingEmptySequenceChangesNothing) {
  CompressProblem p{.batch = 2,
                    .heads = 2,
                    .seq = 12,
                    .lengths = {9, 12},
                    .head_dim = 3,
                    .compress_block_size = 4,
                    .compress_stride = 2};
  const auto operands = make_operands<double>(p);
  const auto expected = all_rows(p, operands);
  p.batch = 3;
  p.lengths = {0, 9, 12};
  EXPECT_EQ(all_rows(p, operands), expected);
}

TEST(NsaCompressGrad, WithoutAnyWindowAllGradientsAreZero) {
  const CompressProblem p{.batch = 2,
                          .heads = 2,
                          .seq = 3,
                          .lengths = {3, 2},
                          .head_dim = 3,
                          .compress_block_size = 4,
                          .compress_stride = 2};
  const auto all = all_rows(p, make_operands<double>(p));
  EXPECT_EQ(all.input, std::vector<double>(30, 0.0));
  EXPECT_EQ(all.weight, std::vector<double>(8, 0.0));
}

TEST(NsaCompressGrad, AOneInTheGradientIsolatesItsWindow) {
  const CompressProblem p{
      .heads = 2, .seq = 10, .head_dim = 3, .compress_block_size = 4, .compress_stride = 2};
  auto operands = make_operands<double>(p);
  std::ranges::fill(operands.output_grad, 0.0);
  const std::int64_t row = output_extents(p).row(0, 1, 2);
  operands.output_grad[static_cast<std::size_t>(row * 3 + 1)] = 1.0;
  const NsaCompressGrad<double> gradient(p, operands);
  for (std::int64_t s = 0; s < 10; ++s) {
    const bool inside = 4 <= s && s < 8;
    const double weight = inside ? operands.weight[static_cast<std::size_t>((s - 4) * 2 + 1)] : 0.0;
    EXPECT_EQ(gradient.input_grad_row(0, 1, s), (std::vector<double>{0.0, weight, 0.0}));
    EXPECT_EQ(gradient.input_grad_row(0, 0, s), std::vector<double>(3, 0.0));
  }
  for (std::int64_t w = 0; w < 4; ++w)
    EXPECT_EQ(gradient.weight_grad(w, 1),
              operands.input[static_cast<std::size_t>(input_extents(p).row(0, 1, 4 + w) * 3 + 1)]);
}

CompressInputs make_inputs(const CompressProblem& p, spec::Striding striding) {
  const auto t =
      call_of(p, spec::CompressEntryPoint::c1, spec::Product::a2, striding, striding).parameters;
  const auto random = [](std::uint64_t seed) {
    return [seed](std::int64_t k) { return element(seed, k); };
  };
  return {.output_grad = filled(t.output_grad, random(1)),
          .input = filled(t.input, random(2)),
          .weight = filled(t.weight, random(3))};
}

TEST(NsaCompressGrad, StridesDoNotChangeABit) {
  const CompressProblem p = small_compressions()[3].problem;
  const auto rows = [&](spec::Striding striding) {
    return all_rows(p, NsaCompressGrad<double>::from(p, make_inputs(p, striding)));
  };
  const auto contiguous = rows(spec::Striding::contiguous);
  EXPECT_GT(largest_magnitude(contiguous.weight), 0.0);
  EXPECT_EQ(rows(spec::Striding::padded), contiguous);
  EXPECT_EQ(rows(spec::Striding::transposed), contiguous);
}

TEST(NsaCompressGrad, RefusesTensorsOfAnotherShapeAndWindowsOfNothing) {
  CompressProblem p;
  const CompressInputs inputs = make_inputs(p, spec::Striding::contiguous);
  EXPECT_NO_THROW(NsaCompressGrad<double>::from(p, inputs));
  p.seq = 63;
  EXPECT_THROW(NsaCompressGrad<double>::from(p, inputs), std::invalid_argument);
  p.seq = 64;
  p.heads = 2;
  EXPECT_THROW(NsaCompressGrad<double>::from(p, inputs), std::invalid_argument);
  p.heads = 1;
  auto operands = make_operands<double>(p);
  operands.weight.pop_back();
  EXPECT_THROW(NsaCompressGrad<double>(p, operands), std::invalid_argument);
  p.compress_stride = 0;
  EXPECT_THROW(NsaCompressGrad<double>(p, make_operands<double>(p)), std::invalid_argument);
}

/// The example in the documentation. Its fp16 buffers contain the bytes of the float 1.0f, so even
/// elements are 0 and odd elements are 1.875.
TEST(NsaCompressGrad, TheExampleOfThePageIsAsDecoded) {
  const CompressProblem p{.dtype = spec::DType::fp16,
                          .batch = 3,
                          .heads = 64,
                          .seq = 144,
                          .lengths = {0, 128, 144},
                          .head_dim = 128};
  const auto t = call_of(p, spec::CompressEntryPoint::c1, spec::Product::a2,
                         spec::Striding::contiguous, spec::Striding::contiguous)
                     .parameters;
  const auto halves = [](std::int64_t k) { return k % 2 == 0 ? 0.0 : 1.875; };
  const auto gradient =
      NsaCompressGrad<double>::from(p, {.output_grad = filled(t.output_grad, halves),
                                        .input = filled(t.input, halves),
                                        .weight = filled(t.weight, halves)});
  const auto coverage = [](std::int64_t s, std::int64_t length) {
    return s < 16 || s >= length - 16 ? 1 : 2;
  };
  for (const std::int64_t b : {1, 2})
    for (std::int64_t s = 0; s < p.length(b); ++s) {
      const auto row = gradient.input_grad_row(b, 63, s);
      EXPECT_EQ(row[0], 0.0);
      EXPECT_EQ(row[127], coverage(s, p.length(b)) * 3.515625) << b << ' ' << s;
      EXPECT_EQ(gradient.input_grad_row(b, 62, s)[127], 0.0);
    }
  for (const std::int64_t w : {0, 17, 31}) EXPECT_EQ(gradient.weight_grad(w, w), 3375.0);
}

}  // namespace
}  // namespace assay::reference
