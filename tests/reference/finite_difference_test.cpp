#include <gtest/gtest.h>

#include "cases.hpp"

namespace assay::reference {
namespace {

/// The sum over all elements of dy * output: its gradient is what the operator computes.
template <class Real>
Real loss(const Problem& p, const Operands<Real>& operands, const spec::Tensor* atten_mask) {
  const Forward<Real> result = forward(p, operands, atten_mask);
  Real sum(0);
  for (std::size_t k = 0; k < operands.dy.size(); ++k)
    sum += operands.dy[k] * result.attention_out[k];
  return sum;
}

template <class Real>
class FiniteDifference {
 public:
  explicit FiniteDifference(const Problem& problem)
      : problem_(problem),
        mask_(make_mask(problem)),
        operands_(consistent_operands<Real>(problem, pointer(mask_))) {}

  /// Central differences of the loss with respect to every element of one operand.
  std::vector<Real> of(std::vector<Real> Operands<Real>::*operand) {
    const Real half_step = ldexp(Real(1), -40);
    std::vector<Real> differences;
    for (Real& element : operands_.*operand) {
      const Real value = element;
      element = value + half_step;
      const Real above = loss(problem_, operands_, pointer(mask_));
      element = value - half_step;
      const Real below = loss(problem_, operands_, pointer(mask_));
      element = value;
      differences.push_back((above - below) / (2 * half_step));
    }
    return differences;
  }

  Gradients<Real> gradients() const {
    return all_rows(problem_, FlashAttentionScoreGrad<Real>(problem_, operands_, pointer(mask_)));
  }

 private:
  Problem problem_;
  std::optional<spec::Tensor> mask_;
  Operands<Real> operands_;
};

template <class Real>
void expect_agreement(const std::vector<Real>& gradient, const std::vector<Real>& difference) {
  ASSERT_EQ(gradient.size(), difference.size());
  const Real limit = Real(1e-10) * largest_magnitude(difference) + Real(1e-20);
  for (std::size_t k = 0; k < gradient.size(); ++k)
    EXPECT_LE(abs(gradient[k] - difference[k]), limit)
        << "element " << k << ": " << gradient[k] << ", difference quotient " << difference[k];
}

template <class Real>
void expect_agreement(const Problem& problem) {
  FiniteDifference<Real> difference(problem);
  const Gradients<Real> gradients = difference.gradients();
  EXPECT_GT(largest_magnitude(gradients.dv), Real(0.1));
  expect_agreement(gradients.dq, difference.of(&Operands<Real>::query));
  expect_agreement(gradients.dk, difference.of(&Operands<Real>::key));
  expect_agreement(gradients.dv, difference.of(&Operands<Real>::value));
}

class QuadDifferences : public testing::TestWithParam<NamedProblem> {};

TEST_P(QuadDifferences, OfTheForwardAgreeWithTheGradientTo1e10) {
  expect_agreement<Quad>(GetParam().problem);
}

INSTANTIATE_TEST_SUITE_P(Small, QuadDifferences, testing::ValuesIn(small_problems()),
                         [](const auto& tested) { return tested.param.name; });

TEST(FiftyDifferences, OfTheForwardAgreeWithTheGradientTo1e10) {
  Problem problem = small_problems()[1].problem;
  problem.heads_q = 2;
  problem.heads_kv = 1;
  expect_agreement<Fifty>(problem);
}

}  // namespace
}  // namespace assay::reference
