#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "assay/reference/flash_attention_score_grad.hpp"
#include "attention_problem.hpp"

/// Tests the formula of attention, evaluated with every number type (equations A1 to A12 of
/// engine/README.md).
namespace assay::engine::attention {
namespace {

const Store bfloat16(8, -126, Direction::nearest_even);
const Store half(11, -14, Direction::nearest_even);

struct Named {
  std::string name;
  Head head;
};
void PrintTo(const Named& named, std::ostream* out) { *out << named.name; }

Named named(
    std::string name, const Draw& draw, const std::function<void(Call&)>& declare = [](Call&) {}) {
  Named made = {std::move(name), random_head(draw)};
  declare(made.head.call);
  return made;
}

/// Makes test heads: without a mask, with a mask and rows that attend to no key, with dropout, with
/// a peaked softmax, with one key, with one query, and with every field of a call.
std::vector<Named> heads() {
  return {
      named("dense", {}),
      named("bfloat16", {.seed = 2}, [](Call& c) { c.stage = c.stage_prob = bfloat16; }),
      named("all_stored", {.seed = 3},
            [](Call& c) { c.stage = c.stage_prob = c.score = c.prob = c.dprob = bfloat16; }),
      named("masked", {.attended = 0.4, .seed = 4}, [](Call& c) { c.stage = c.stage_prob = half; }),
      named("dropout", {.keep_prob = 0.7, .seed = 5},
            [](Call& c) { c.stage = c.stage_prob = bfloat16; }),
      named("peaked", {.scale = 8, .size = 2, .seed = 6},
            [](Call& c) { c.stage = c.stage_prob = half; }),
      named("one_key", {.keys = 1, .seed = 7}, [](Call& c) { c.stage = c.stage_prob = bfloat16; }),
      named("one_query", {.queries = 1, .seed = 8}),
      named("fused", {.seed = 9}, [](Call& c) { c.fused = true; }),
      named("tf32", {.seed = 10}, [](Call& c) { c.units.operands = 0x1p-10; }),
      named("truncating", {.seed = 11}, [](Call& c) { c.units.truncating = true; }),
      named("floor", {.seed = 12}, [](Call& c) { c.floor = 0x1p-12; }),
      named("coarse_exponential", {.seed = 13}, [](Call& c) { c.exp_error = 0x1p-10; }),
  };
}

const auto gradients = {&Gradients<double>::dq, &Gradients<double>::dk, &Gradients<double>::dv};

std::vector<Bound> of(const Gradients<Bound>& bounds,
                      std::vector<double> Gradients<double>::*gradient) {
  return gradient == &Gradients<double>::dq   ? bounds.dq
         : gradient == &Gradients<double>::dk ? bounds.dk
                                              : bounds.dv;
}

class Attention : public testing::TestWithParam<Named> {};
INSTANTIATE_TEST_SUITE_P(Heads, Attention, testing::ValuesIn(heads()),
                         [](const auto& tested) { return tested.param.name; });

/// The double arithmetic of the test itself has rounding errors, too. A measured error may
/// therefore exceed its bound by at most this factor.
constexpr double own_roundings = 1 + 0x1p-20;

TEST_P(Attention, ValueIsTheNaiveOneAndEveryReadingHasIt) {
  const Head& head = GetParam().head;
  const auto value = plain_gradients<double>(head);
  const auto naive = plain_gradients<Naive>(head);
  const auto bound = bounds(head, {});
  const auto silent = injected_gradients(head, [](const Source&) { return 0.0; });
  for (const auto gradient : gradients) {
    const auto& exact = gradient == &Gradients<double>::dq   ? naive.dq
                        : gradient == &Gradients<double>::dk ? naive.dk
                                                             : naive.dv;
    const auto elements = of(bound, gradient);
    for (std::size_t k = 0; k < exact.size(); ++k) {
      const double size = elements[k].rigorous;
      const Naive error = abs(Naive((value.*gradient)[k]) - exact[k]);
      EXPECT_LE(error.convert_to<double>(), 0x1p-27 * size) << k;
      EXPECT_NEAR(elements[k].value, (value.*gradient)[k], 0x1p-27 * size) << k;
      EXPECT_NEAR((silent.*gradient)[k], (value.*gradient)[k], 0x1p-27 * size) << k;
    }
  }
}

TEST_P(Attention, RandomSignsStayWithinBothBounds) {
  const Head& head = GetParam().head;
  const auto bound = bounds(head, {});
  const auto exact = plain_gradients<double>(head);
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto injected = injected_gradients(head, random_signs(seed));
    for (const auto gradient : gradients) {
      const auto elements = of(bound, gradient);
      for (std::size_t k = 0; k < elements.size(); ++k) {
        const double error = std::abs((injected.*gradient)[k] - (exact.*gradient)[k]);
        ASSERT_LE(error, elements[k].rigorous * own_roundings) << k;
        ASSERT_LE(error, elements[k].core * own_roundings) << k;
      }
    }
  }
}

/// The smallest and the largest value of error / rigorous bound, over several elements.
struct Reach {
  double least = HUGE_VAL, most = 0;
};
Reach reach(const Head& head, const Gradients<Bound>& bound,
            const std::function<Gradients<double>(const Shares&)>& kernel) {
  Reach reach;
  for (const auto gradient : gradients) {
    const auto elements = of(bound, gradient);
    for (const std::size_t k : {std::size_t{0}, elements.size() / 2, elements.size() - 1}) {
      if (elements[k].rigorous == 0) continue;
      const double share = conspiracy(kernel, {gradient, k}) / elements[k].rigorous;
      reach.least = std::min(reach.least, share);
      reach.most = std::max(reach.most, share);
    }
  }
  EXPECT_GT(reach.most, 0) << head.queries;
  return reach;
}

TEST_P(Attention, SignsThatConspireReachMuchOfTheBoundAndNeverPassIt) {
  const Head& head = GetParam().head;
  const Reach reached = reach(head, bounds(head, {}), [&](const Shares& shares) {
    return injected_gradients(head, shares);
  });
  EXPECT_LE(reached.most, own_roundings);
  EXPECT_GE(reached.least, 0.5);
  RecordProperty("least", std::to_string(reached.least));
  RecordProperty("most", std::to_string(reached.most));
}

TEST_P(Attention, AKernelWrittenStepByStepStaysWithinTheBoundAndReachesIt) {
  const Head& head = GetParam().head;
  const Reach reached = reach(head, bounds(head, {}), [&](const Shares& shares) {
    return stepwise_gradients(head, shares);
  });
  EXPECT_LE(reached.most, own_roundings);
  EXPECT_GE(reached.least, 0.05);
  RecordProperty("least", std::to_string(reached.least));
  RecordProperty("most", std::to_string(reached.most));
}

TEST_P(Attention, SumsAndCastsOfThatKernelStayWithinTheProvenBound) {
  const Head& head = GetParam().head;
  const Output output = {.units = head.call.units, .store = bfloat16};
  const auto bound = bounds(head, output);
  for (const auto gradient : gradients) {
    const auto elements = of(bound, gradient);
    const double error =
        conspiracy([&](const Shares& shares) { return stepwise_gradients(head, shares, &output); },
                   {gradient, 0});
    EXPECT_LE(error, elements[0].proven * own_roundings);
    EXPECT_GE(error, 0.05 * elements[0].proven);
  }
}

/// Removes the error term `injected` from the tolerance. Returns whether the errors of the
/// step-by-step kernel then exceed the bound.
bool caught(const Head& head, const Injected& injected) {
  const auto reached = reach(head, bounds(head, {}, injected), [&](const Shares& shares) {
    return stepwise_gradients(head, shares);
  });
  return reached.most > own_roundings;
}

struct Bug {
  std::string name;
  Injected injected;
  Head head;  ///< a head in which this error term is the largest
};

Head coarse(const Draw& draw, const std::function<void(Call&)>& declare) {
  return named("", draw, declare).head;
}

/// Roundings and dot products have numbers, in the order in which they occur in the source text of
/// the formula.
std::vector<Bug> bugs() {
  // In this head the scores are far from their maximum, so the rounding of the scores causes the
  // largest error.
  Head far = coarse({.dim = 1, .size = 2, .seed = 21}, [](Call& c) { c.exp_error = 0; });
  for (double& x : far.query) x = 64;
  for (double& x : far.key) x = 1;
  for (double& m : far.max) m = 0;
  for (double& z : far.sum) z = std::exp(32.0) * 7;
  // These heads have many channels and few keys, so the dot products are long and the sums over
  // keys are short.
  const Draw many = {.dim = 64, .dim_v = 64, .seed = 22};
  Head fused = far;
  fused.call.fused = true;
  const auto narrow = [](Call& c) { c.units.u_sum = 0x1p-16; };
  // In this head all scores and row terms (sums of dy * output) are 0, so every other rounding
  // error has its full size.
  Head level = coarse({.keep_prob = 0.5, .seed = 25}, [](Call& c) { c.exp_error = 0; });
  for (double& x : level.query) x = 0;
  give_forward(level);
  for (double& x : level.attention_in) x = 0;
  return {
      {"score_dot_missing", {.dot = 0, .factor = 0}, coarse(many, narrow)},
      {"dprob_dot_missing", {.dot = 1, .factor = 0}, coarse(many, narrow)},
      {"dprob_dot_halved", {.dot = 1, .factor = 0.5}, coarse(many, narrow)},
      {"score_roundings_missing", {.rounding = 0, .factor = 0}, far},
      {"score_roundings_of_a_third", {.rounding = 0, .factor = 1.0 / 3}, far},
      {"constants_missing", {.rounding = 0, .factor = 0}, fused},
      {"argument_missing", {.rounding = 0, .factor = 0}, level},
      {"keep_prob_of_dprob_missing", {.rounding = 1, .factor = 0}, level},
      {"difference_missing", {.rounding = 2, .factor = 0}, level},
      {"difference_halved", {.rounding = 2, .factor = 0.5}, level},
      {"dscore_missing", {.rounding = 3, .factor = 0}, level},
      {"keep_prob_of_prob_missing", {.rounding = 4, .factor = 0}, level},
      {"exponential_missing",
       {.exponential = true},
       coarse({.seed = 23}, [](Call& c) { c.exp_error = 0x1p-10; })},
      {"residue_missing",
       {.residue = true},
       coarse({.seed = 24}, [](Call& c) { c.floor = 0x1p-10; })},
      {"store_missing",
       {.store = true},
       coarse({.seed = 26}, [](Call& c) { c.stage = c.stage_prob = bfloat16; })},
  };
}

class IncompleteFormula : public testing::TestWithParam<Bug> {};
INSTANTIATE_TEST_SUITE_P(Bugs, IncompleteFormula, testing::ValuesIn(bugs()),
                         [](const auto& tested) { return tested.param.name; });
void PrintTo(const Bug& bug, std::ostream* out) { *out << bug.name; }

TEST_P(IncompleteFormula, IsCaughtByTheStepwiseKernel) {
  EXPECT_FALSE(caught(GetParam().head, {}));
  EXPECT_TRUE(caught(GetParam().head, GetParam().injected));
}

TEST(AttentionFormula, OneKeyAgreesWithHandComputation) {
  // Computed by hand: the only score S = 0.5 * 2 * 4 = 4 is also the maximum, so P = 1. dP = 3 * 5
  // = 15, the row term delta = 3 * 1 = 3, and dS = P (dP - delta) = 12.
  Head head = {.queries = 1,
               .keys = 1,
               .dim = 1,
               .dim_v = 1,
               .query = {2},
               .key = {4},
               .value = {5},
               .dy = {3},
               .attention_in = {1},
               .max = {4},
               .sum = {1},
               .kappa = {1},
               .times = {1},
               .call = {.scale = 0.5, .dim = 1, .dim_v = 1}};
  const auto value = plain_gradients<double>(head);
  EXPECT_EQ(value.dq[0], 0.5 * 12 * 4);
  EXPECT_EQ(value.dk[0], 0.5 * 12 * 2);
  EXPECT_EQ(value.dv[0], 3);
  // The errors to first order, with u = 2^-24 (the fp32 rounding unit). The error of the score S is
  // 5 u * 4 + 3 u (4 + 4 + 4/3) = 48 u. P has this relative error plus 4 u + 2^-22.
  const double u = 0x1p-24, p = (20 + 28 + 4 + 4) * u;
  EXPECT_NEAR(bounds(head, {}).dv[0].rigorous, 3 * (p + u), 1e-10);
  // The errors of the next steps, with u = 2^-24 (the fp32 rounding unit): 5 u * 15 for dP = 15, (5
  // + 2) u * 3 for delta = 3, 2 u (15 + 3) for their difference, and 2 u * 12 for dS = 12.
  const double ds = 12 * p + (75 + 21 + 36 + 24) * u;
  EXPECT_NEAR(bounds(head, {}).dq[0].rigorous, 0.5 * 4 * ds, 1e-9);
  EXPECT_NEAR(bounds(head, {}).dk[0].rigorous, 0.5 * 2 * ds, 1e-9);
}

TEST(AttentionFormula, IsTheDefinitionOfTheOperator) {
  const Draw draw = {.queries = 6, .keys = 9, .dim = 5, .dim_v = 4, .seed = 31};
  const Head head = random_head(draw);
  reference::FlashAttentionScoreGrad<reference::Quad>::Problem problem;
  problem.seq_q = draw.queries;
  problem.seq_kv = draw.keys;
  problem.head_dim = draw.dim;
  problem.head_dim_v = draw.dim_v;
  problem.scale_value = draw.scale;
  const auto exact = [](const std::vector<double>& x) {
    return std::vector<reference::Quad>(x.begin(), x.end());
  };
  const reference::FlashAttentionScoreGrad<reference::Quad> definition(
      problem,
      {.query = exact(head.query),
       .key = exact(head.key),
       .value = exact(head.value),
       .dy = exact(head.dy),
       .softmax_max = exact(head.max),
       .softmax_sum = exact(head.sum),
       .attention_in = exact(head.attention_in)},
      {});
  const auto naive = plain_gradients<Naive>(head);
  const auto expect_rows = [](const std::vector<Naive>& all, std::int64_t row,
                              const std::vector<reference::Quad>& defined) {
    for (std::size_t d = 0; d < defined.size(); ++d) {
      const auto k = static_cast<std::size_t>(row) * defined.size() + d;
      EXPECT_LE(abs(all[k] - defined[d]), Naive(0x1p-100)) << k;
    }
  };
  for (std::int64_t i = 0; i < draw.queries; ++i)
    expect_rows(naive.dq, i, definition.dq_row(0, 0, i).dq);
  for (std::int64_t j = 0; j < draw.keys; ++j) {
    const auto row = definition.dkv_row(0, 0, j);
    expect_rows(naive.dk, j, row.dk);
    expect_rows(naive.dv, j, row.dv);
  }
}

}  // namespace
}  // namespace assay::engine::attention
