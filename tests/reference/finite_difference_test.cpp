#include <gtest/gtest.h>

#include "cases.hpp"

namespace assay::reference {
namespace {

/// Returns the sum of dy * output over all elements. The gradients of this sum are the results of
/// the operator.
template <class Real>
Real loss(const Problem& p, const Operands<Real>& operands, const SideInputs& side) {
  const Forward<Real> result = forward(p, operands, side);
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
        sides_(make_sides(problem)),
        operands_(consistent_operands<Real>(problem, sides_.refer())) {}

  /// Returns the derivative of the loss with respect to every element of one operand, computed as
  /// central differences.
  std::vector<Real> of(std::vector<Real> Operands<Real>::*operand) {
    const Real half_step = ldexp(Real(1), -40);
    std::vector<Real> differences;
    for (Real& element : operands_.*operand) {
      const Real value = element;
      element = value + half_step;
      const Real above = loss(problem_, operands_, sides_.refer());
      element = value - half_step;
      const Real below = loss(problem_, operands_, sides_.refer());
      element = value;
      differences.push_back((above - below) / (2 * half_step));
    }
    return differences;
  }

  Gradients<Real> gradients() const {
    return all_rows(problem_, FlashAttentionScoreGrad<Real>(problem_, operands_, sides_.refer()));
  }

 private:
  Problem problem_;
  OwnedSides sides_;
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
  expect_agreement(gradients.dq_rope, difference.of(&Operands<Real>::query_rope));
  expect_agreement(gradients.dk_rope, difference.of(&Operands<Real>::key_rope));
}

class QuadDifferences : public testing::TestWithParam<NamedProblem> {};

/// Reduces a problem to two heads that share one key head, to save time. The loss is evaluated for
/// every element, so the time grows with the square of the number of elements.
Problem with_one_group(Problem problem) {
  problem.heads_q = 2;
  problem.heads_kv = 1;
  return problem;
}

TEST_P(QuadDifferences, ForwardDifferencesAgreeWithTheGradientTo1e10) {
  expect_agreement<Quad>(with_one_group(GetParam().problem));
}

INSTANTIATE_TEST_SUITE_P(Small, QuadDifferences, testing::ValuesIn(small_problems()),
                         [](const auto& tested) { return tested.param.name; });

/// One combination of position bias, dropout, rope, group size, lengths and scale. The test uses
/// all combinations; the scales have both signs.
struct Combination {
  std::int64_t pse_type = 1;
  spec::PseShape pse_shift = spec::PseShape::absent;
  bool dropout = false, rope = false, ragged = false;
  std::int64_t group = 1;
  double scale = 0.7;
};

Problem problem_of(const Combination& c) {
  Problem p;
  p.dtype = spec::DType::fp32;
  p.scale_value = c.scale;
  p.heads_q = 4;
  p.heads_kv = 4 / c.group;
  p.seq_q = 2;
  p.seq_kv = 3;
  p.head_dim = 2;
  p.head_dim_v = 1;
  p.head_dim_rope = c.rope ? 1 : 0;
  p.pse_type = c.pse_type;
  p.pse_shift = c.pse_shift;
  if (c.dropout) {
    p.keep_prob = 0.6;
    p.drop_mask = spec::DropMask::exact;
  }
  if (!c.ragged) return p;
  p.sparse_mode = 3;
  p.atten_mask = spec::MaskShape::compressed;
  return with_lengths(p, {2, 0, 1}, {3, 1, 2});
}

std::vector<Combination> combinations() {
  using enum spec::PseShape;
  std::vector<Combination> list;
  for (const bool ragged : {false, true})
    for (const auto& [type, shape] :
         std::vector<std::pair<std::int64_t, spec::PseShape>>{{1, absent},
                                                              {0, ragged ? packed_bnss : bnss},
                                                              {1, ragged ? packed_bn1s : bn1s},
                                                              {2, slopes_n},
                                                              {3, slopes_bn}})
      for (const bool dropout : {false, true})
        for (const bool rope : {false, true})
          for (const std::int64_t group : {1, 2, 4})
            list.push_back({.pse_type = type,
                            .pse_shift = shape,
                            .dropout = dropout,
                            .rope = rope,
                            .ragged = ragged,
                            .group = group,
                            .scale = list.size() % 2 == 0 ? 0.7 : -1.3});
  return list;
}

std::string name_of(const Combination& c) {
  const std::string pse =
      c.pse_shift == spec::PseShape::absent ? "no_pse" : "pse_" + std::to_string(c.pse_type);
  return pse + (c.dropout ? "_dropout" : "") + (c.rope ? "_rope" : "") +
         (c.ragged ? "_tnd" : "_padded") + "_group_" + std::to_string(c.group);
}

class CombinedDifferences : public testing::TestWithParam<Combination> {};

TEST_P(CombinedDifferences, ForwardDifferencesAgreeWithTheGradientTo1e10) {
  expect_agreement<Quad>(problem_of(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(All, CombinedDifferences, testing::ValuesIn(combinations()),
                         [](const auto& tested) { return name_of(tested.param); });

TEST(FiftyDifferences, ForwardDifferencesAgreeWithTheGradientTo1e10) {
  expect_agreement<Fifty>(with_one_group(small_problems()[1].problem));
}

}  // namespace
}  // namespace assay::reference
