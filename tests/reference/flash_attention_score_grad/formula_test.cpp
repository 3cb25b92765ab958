#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "assay/reference/flash_attention_score_grad.hpp"

/// Tests the gradients with respect to the parameters of a user's score formula, computed by hand.
namespace assay::reference {
namespace {

using Op = spec::FlashAttentionScoreGrad;

/// The score formula s + w[j] + 2 w[1], with a given gradient of the LSE.
class ByKey final : public ScoreFormula<Quad> {
 public:
  explicit ByKey(double dlse) : dlse_(dlse) {}
  bool keeps(const ScorePosition& at) const override { return at.j < 2; }
  Value operator()(const Quad& scaled, const ScorePosition&) const override { return {scaled, 1}; }
  std::vector<Partial> partials(const Quad&, const ScorePosition& at) const override {
    return {{static_cast<std::size_t>(at.j), 1}, {1, 2}};
  }
  Quad dlse(const ScorePosition&) const override { return dlse_; }

 private:
  double dlse_;
};

spec::Tensor tensor(std::vector<double> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  auto made = spec::contiguous_tensor(spec::DType::fp32, {1, 1, count, 1});
  for (std::int64_t k = 0; k < count; ++k) made.store(k, values[static_cast<std::size_t>(k)]);
  return made;
}

/// Computes the gradient for one query and three keys with scores 0. The formula masks the third
/// key, so P = 1/2, dP = 2, 4, the row term is 3, and dS = -1/2 and 1/2.
FlashAttentionScoreGrad<Quad> gradient_of(double dlse) {
  static const Op::Problem problem = {
      .dtype = spec::DType::fp32, .seq_q = 1, .seq_kv = 3, .head_dim = 1, .head_dim_v = 1};
  static const Op::Inputs inputs = [] {
    Op::Inputs in;
    in.query = tensor({0}), in.dy = tensor({2}), in.attention_in = tensor({1.5});
    in.key = tensor({5, 8, 1}), in.value = tensor({1, 2, 3});
    in.softmax_max = in.softmax_sum = spec::contiguous_tensor(spec::DType::fp32, {1, 1, 1, 8});
    for (std::int64_t k = 0; k < 8; ++k) in.softmax_max.store(k, 0), in.softmax_sum.store(k, 2);
    return in;
  }();
  return FlashAttentionScoreGrad<Quad>::from(problem, inputs, std::make_shared<ByKey>(dlse));
}

TEST(Formula, GradientOfANumberSumsDscoreTimesItsDerivatives) {
  const auto gradient = gradient_of(0);
  EXPECT_EQ(gradient.dformula(0), Quad(-0.5));
  EXPECT_EQ(gradient.dformula(1), Quad(0.5) + 2 * (Quad(-0.5) + Quad(0.5)));
  EXPECT_EQ(gradient.dformula(2), 0);  // the formula masks the third key
}

TEST(Formula, GradientOfTheLseIsSubtractedFromTheRowTerm) {
  const auto gradient = gradient_of(1);  // dS = 1/2 (2 - 3 + 1) and 1/2 (4 - 3 + 1)
  EXPECT_EQ(gradient.pair(0, 0, 0, 0).dscore, 0);
  EXPECT_EQ(gradient.pair(0, 0, 0, 1).dscore, 1);
  EXPECT_EQ(gradient.dformula(1), 3);
  EXPECT_EQ(gradient.row_term(0, 0, 0), 3);
}

}  // namespace
}  // namespace assay::reference
