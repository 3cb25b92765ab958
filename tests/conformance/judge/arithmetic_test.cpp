#include "assay/conformance/judge/arithmetic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "../attention/model_kernel.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/operators.hpp"
#include "attention/bound/bound.hpp"
#include "attention/bound/head_pairs.hpp"
#include "attention/bound/sums.hpp"
#include "judge/tolerance.hpp"

/// Tests how the declared arithmetic of a kernel determines the error terms, and in which cases the
/// judge evaluates R (root mean square of the errors) and b (their bias).
namespace assay::conformance {
namespace {

using spec::DType;
using spec::Numerics;
using spec::Rounding;
using testing::Op;
constexpr DType fp16 = DType::fp16, bf16 = DType::bf16, fp32 = DType::fp32;

Arithmetic of(const Numerics& numerics, DType io) { return {numerics, io}; }

TEST(ArithmeticOfNumerics, MatrixUnitDeterminesTheUnitRoundoffs) {
  using spec::Accumulator;
  using spec::Product32;
  EXPECT_EQ(of({}, bf16).u_a, 0x1p-24);
  EXPECT_EQ(of({.accumulator = Accumulator::fp32_truncating}, bf16).u_a, 0x1p-23);
  EXPECT_EQ(of({.accumulator = Accumulator::fp16}, bf16).u_a, 0x1p-11);
  EXPECT_EQ(of({}, fp32).u_x, 0);
  EXPECT_EQ(of({.product = Product32::tf32}, fp32).u_x, 0x1p-11);
  EXPECT_EQ(of({.product = Product32::tf32_truncating}, fp32).u_x, 0x1p-10);
  EXPECT_EQ(of({.product = Product32::hf32}, fp32).u_x, 0x1p-12);
  EXPECT_EQ(of({}, fp16).u_k, 0);
  EXPECT_EQ(of({}, fp16).eta_k, 0);
  for (const auto& [io, u, eta] :
       {std::tuple{fp16, 0x1p-11, 0x1p-25}, {bf16, 0x1p-8, 0x1p-134}, {fp32, 0x1p-24, 0.0}}) {
    EXPECT_EQ(of({.operand_scaled = true}, io).u_k, u);
    EXPECT_EQ(of({.operand_scaled = true}, io).eta_k, eta);
  }
}

/// E1.
TEST(ArithmeticOfNumerics, RoundingErrorFollowsTypeAndMode) {
  const auto staged = [](double x, DType stage, Rounding rounding) {
    return of({.stage = stage, .round_stage = rounding}, fp32).stage_error(x);
  };
  EXPECT_EQ(staged(3, bf16, Rounding::rne), 2 * 0x1p-8);
  EXPECT_EQ(staged(3, bf16, Rounding::unknown), 2 * 0x1p-8);
  EXPECT_EQ(staged(3, fp16, Rounding::rna), 2 * 0x1p-11);
  for (const Rounding twice : {Rounding::rtz, Rounding::stochastic, Rounding::unknown_any})
    EXPECT_EQ(staged(3, bf16, twice), 2 * 0x1p-7);
  EXPECT_EQ(staged(3, fp32, Rounding::rtz), 0);
  EXPECT_EQ(staged(0, fp16, Rounding::rne), 0);
  EXPECT_EQ(staged(0x1p-20, fp16, Rounding::rne), 0x1p-25);         // subnormal
  EXPECT_EQ(staged(0x1p-30, fp16, Rounding::rne), 0x1p-30);         // the number may be lost
  EXPECT_EQ(staged(0x1p-30, fp16, Rounding::stochastic), 0x1p-24);  // or may gain a whole unit
  EXPECT_EQ(of({}, fp16).out_error(5), 4 * 0x1p-11);
  EXPECT_EQ(of({}, fp32).out_error(5), 0);
}

/// E2.
TEST(ArithmeticOfNumerics, DriftIsKnownUnlessTheNoiseReachesATie) {
  const engine::Store even = store_of(bf16, Rounding::rne), away = store_of(bf16, Rounding::rna);
  constexpr double step = 0x1p-7;  // unit of bf16 in [1, 2)
  EXPECT_EQ(even.drift(1 + 0.25 * step, 0.0), -0.25 * step);
  EXPECT_EQ(even.drift(-1 - 0.75 * step, 0.0), -0.25 * step);
  EXPECT_EQ(even.drift(1 + 0.25 * step, 0.25 * step), -0.25 * step);
  EXPECT_EQ(even.drift(1 + 0.25 * step, 0.26 * step), 0.0);  // the noise reaches the tie
  EXPECT_EQ(even.drift(1 + 0.46875 * step, 0.0625 * step),
            -0.46875 * step);  // or the tie is far below a unit
  EXPECT_EQ(even.drift(1 + 0.5 * step, 0.0), -0.5 * step);
  EXPECT_EQ(away.drift(1 + 0.5 * step, 0.0), 0.5 * step);
  EXPECT_EQ(store_of(bf16, Rounding::rtz).drift(1 + 0.25 * step, 0.0), 0);
  EXPECT_EQ(store_of(fp32, Rounding::rne).drift(1 + 0.25 * step, 0.0), 0);
}

TEST(ArithmeticOfNumerics, MeanFreeAndRowCoherentErrorsFollowTheNumerics) {
  EXPECT_TRUE(of({.stage = bf16}, bf16).mean_free);
  EXPECT_FALSE(of({.stage = bf16, .round_stage = Rounding::stochastic}, fp32).mean_free);
  EXPECT_FALSE(of({.round_out = Rounding::rtz}, bf16).mean_free);
  EXPECT_FALSE(of({.product = spec::Product32::tf32_truncating}, fp32).mean_free);
  EXPECT_TRUE(of({.round_stage = Rounding::rtz, .round_out = Rounding::rtz}, fp32).mean_free);
  EXPECT_TRUE(
      of({.round_stage = Rounding::unknown, .round_out = Rounding::unknown}, bf16).mean_free);
  EXPECT_FALSE(of({}, bf16).truncating_sums);
  EXPECT_TRUE(of({.accumulator = spec::Accumulator::fp32_truncating}, bf16).truncating_sums);
  EXPECT_FALSE(of({.lse_form = true}, bf16).row_coherent);
  EXPECT_FALSE(of({.fused = false}, fp32).row_coherent);
  EXPECT_TRUE(of({.fused = true}, fp32).row_coherent);
  EXPECT_TRUE(of({.lse_form = true, .fused = false}, fp32).row_coherent);
  EXPECT_TRUE(of({.lse_form = true, .log_error = 0x1p-11}, bf16).row_coherent);
  EXPECT_FALSE(of({.log_error = 0x1p-11, .fused = false}, bf16).row_coherent);
  EXPECT_TRUE(of({.store_s = bf16}, bf16).row_coherent);
  EXPECT_TRUE(of({.operand_scaled = true}, bf16).row_coherent);
  EXPECT_TRUE(of({.product = spec::Product32::tf32}, bf16).row_coherent);
  for (const spec::RowTerm term : {spec::RowTerm::own, spec::RowTerm::own_output})
    EXPECT_EQ(of({.delta = term, .fused = false}, bf16).row_coherent,
              term == spec::RowTerm::own_output);
}

TEST(ArithmeticOfNumerics, OverflowThresholdsFollowTheTypes) {
  EXPECT_EQ(overflow_threshold(fp16), 65520);
  EXPECT_EQ(overflow_threshold(bf16), std::ldexp(511.0, 119));
  EXPECT_EQ(overflow_threshold(fp32), std::ldexp(33554431.0, 103));
  EXPECT_EQ(largest_finite(fp16), 65504);
  EXPECT_EQ(largest_finite(bf16), std::ldexp(255.0, 120));
  EXPECT_EQ(largest_finite(fp32), static_cast<double>(std::numeric_limits<float>::max()));
}

/// A problem with inputs, and the judge's expected values and tolerances for all rows.
struct Subject {
  explicit Subject(Op::Problem p, Numerics numerics = {.fused = false})
      : inputs(testing::normal_inputs(p, 1)),
        problem(std::move(p)),
        arithmetic(numerics, problem.dtype) {}

  attention::AllRowTerms rows() const {
    return attention::row_terms({problem, inputs}, arithmetic);
  }
  std::vector<Expectation> expectations() const {
    const attention::Dense dense(problem, inputs);
    attention::JudgedRows all;
    all.query = attention::ascending(0, dense.queries.rows());
    all.key = attention::ascending(0, dense.keys.rows());
    return attention::expectations(dense, arithmetic, rows(), all);
  }

  Op::Inputs inputs;
  Op::Problem problem;
  Arithmetic arithmetic;
};

/// Equation E11a (the error of the row term if it is computed from the kernel's own output),
/// computed by hand. The two keys have equal scores and the values 1 and 3, and dy is 1. So P =
/// 1/2, dP = 1 and 3, and the output is 2.
TEST(RowTerms, OwnOutputAddsRoundingOfPAndCast) {
  const Op::Problem p = {.dtype = bf16, .seq_q = 1, .seq_kv = 2, .head_dim = 1, .head_dim_v = 1};
  const auto delta_error = [&](spec::RowTerm term) {
    Subject subject(p, {.stage = bf16, .delta = term, .fused = false});
    Op::Inputs& in = subject.inputs;
    in.query.store(0, 0), in.dy.store(0, 1), in.attention_in.store(0, 2);
    for (const std::int64_t j : {0, 1}) in.key.store(j, 1), in.value.store(j, j == 0 ? 1 : 3);
    for (std::int64_t copy = 0; copy < spec::statistics_replicas; ++copy)
      in.softmax_max.store(copy, 0), in.softmax_sum.store(copy, 2);
    const attention::AllRowTerms rows = subject.rows();
    EXPECT_TRUE(rows.consistent);
    EXPECT_EQ(rows.rows[0].delta, 2);
    return rows.rows[0].delta_error;
  };
  const engine::Symbol own = delta_error(spec::RowTerm::own),
                       of_output = delta_error(spec::RowTerm::own_output);
  const double staged = 0.5 * 0x1p-8, cast = 2 * 0x1p-8, sums = (2 + 1 + 4) * 0x1p-24 * 2;
  EXPECT_DOUBLE_EQ(of_output.rigorous - own.rigorous, staged * (1 + 3) + cast + sums);
  EXPECT_DOUBLE_EQ(of_output.shared - own.shared, sums);
  EXPECT_DOUBLE_EQ(of_output.deviation * of_output.deviation - own.deviation * own.deviation,
                   staged * staged * (1 + 9) + cast * cast);
}

TEST(Expectations, ABiasMeansSomethingWhereScoresVaryAndPairsShareNoRounding) {
  const auto biasable = [](DType io, double scale, double kept) {
    Op::Problem p = {.dtype = io,
                     .seq_q = 6,
                     .seq_kv = 6,
                     .head_dim = 8,
                     .head_dim_v = 8,
                     .scale_value = scale,
                     .keep_prob = kept};
    if (kept < 1) p.drop_mask = spec::DropMask::exact;
    return Subject(p).expectations()[2].biasable;
  };
  EXPECT_TRUE(biasable(bf16, 0.25, 1));
  EXPECT_FALSE(biasable(bf16, 0, 1));
  EXPECT_FALSE(biasable(bf16, 0x1p-10, 1));
  EXPECT_TRUE(biasable(bf16, 0x1p-8, 1));  // |q||k| is about 8: scores differ by 2^-5
  EXPECT_TRUE(biasable(bf16, 0.25, 0.3));
  EXPECT_TRUE(biasable(fp32, 0.25, 0.5));
  EXPECT_FALSE(biasable(fp32, 0.25, 0.3));  // 1 / 0.3 is not an fp32 number
}

/// With slopes as bias, all pairs on a diagonal have the same P. Equal P have equal rounding
/// errors, which count as one independent error.
TEST(Expectations, EqualProbabilitiesHaveFewIndependentErrors) {
  const auto dk = [](std::int64_t pse_type, spec::PseShape shape, const char* preset) {
    Op::Problem p = {.dtype = bf16,
                     .seq_q = 6,
                     .seq_kv = 6,
                     .head_dim = 8,
                     .head_dim_v = 8,
                     .scale_value = 0x1p-12,
                     .pse_type = pse_type,
                     .pse_shift = shape};
    return Subject(p, spec::numerics_preset(preset, bf16)).expectations()[1];
  };
  using spec::PseShape;
  EXPECT_TRUE(dk(0, PseShape::bnss, "ascend_a2").biasable);
  EXPECT_FALSE(dk(1, PseShape::bnss, "ascend_a2").biasable);
  EXPECT_FALSE(dk(2, PseShape::slopes_n, "ascend_a2").biasable);
  EXPECT_GT(dk(1, PseShape::absent, "jax_cpu").share[0], 0);
  EXPECT_EQ(dk(1, PseShape::absent, "torch_composed_bf16").share[0], 0);
}

TEST(Expectations, StatisticsAndOutputMustBelongToTheDataOfAKernelWithItsOwn) {
  const Op::Problem p = {.dtype = bf16, .seq_q = 6, .seq_kv = 6, .head_dim = 8, .head_dim_v = 8};
  const Numerics own = {.stats = spec::Origin::own, .delta = spec::RowTerm::own};
  EXPECT_TRUE(Subject(p, own).rows().consistent);
  for (const double factor : {1 + 0x1p-19, 1 + 0x1p-16}) {
    Subject off(p, own);
    off.inputs.softmax_sum.store(16, off.inputs.softmax_sum.load(16) * factor);
    EXPECT_EQ(off.rows().consistent, factor < 1 + 0x1p-18);
  }
  for (const double ulps : {1.0, 3.0}) {
    Subject off(p, own);
    // Searches for a number in the upper half of a binade (the numbers from one power of two to the
    // next). For such a number, a rounding and an error of one ulp add up to at most 2^-7 of the
    // number.
    std::int64_t at = 0;
    const auto is_upper = [](double x) { return std::abs(x) >= 1.5 * std::exp2(std::ilogb(x)); };
    while (!is_upper(off.inputs.attention_in.load(at))) ++at;
    const double x = off.inputs.attention_in.load(at);
    off.inputs.attention_in.store(at,
                                  x + std::copysign(ulps * std::ldexp(1.0, std::ilogb(x) - 7), x));
    EXPECT_EQ(off.rows().consistent, ulps < 2) << ulps;
  }
  Subject given(p);
  given.inputs.softmax_sum.store(16, 7);
  EXPECT_TRUE(given.rows().consistent);
}

/// The second sequence has no queries, so no query attends to its keys, and dk must be exactly 0 in
/// its rows.
TEST(Expectations, KeysThatNoQueryCanAttendToHaveNoFloor) {
  const Op::Problem p = {.input_layout = spec::Layout::tnd,
                         .dtype = bf16,
                         .batch = 2,
                         .seq_q = 3,
                         .seq_kv = 6,
                         .lengths_q = {3, 0},
                         .lengths_kv = {3, 6},
                         .head_dim = 8,
                         .head_dim_v = 8};
  const auto made = Subject(p).expectations();
  for (const std::size_t tensor : {1, 2})
    for (std::size_t k = 0; k < made[tensor].floor.size(); ++k)
      EXPECT_EQ(made[tensor].floor[k] > 0, k < 3 * 8) << made[tensor].name << ' ' << k;
}

/// A row is exempt from judgement if dS may overflow in fp16: here dS is 2 * 65,520, or P was
/// computed with a much too small statistic.
TEST(Expectations, RowsThatMayOverflowInStagingAreExempt) {
  Op::Problem p = {.dtype = fp16, .seq_q = 3, .seq_kv = 4, .head_dim = 1, .head_dim_v = 1};
  Subject subject(p, {.stage = fp16});
  for (const std::int64_t replica : {8, 9, 10, 11, 12, 13, 14, 15})
    subject.inputs.softmax_sum.store(replica, 0x1p-40);
  const auto made = subject.expectations();
  EXPECT_EQ(made[0].exempt, (std::vector<std::uint8_t>{0, 1, 0}));
  EXPECT_EQ(made[1].exempt, (std::vector<std::uint8_t>(4, 1)));
  EXPECT_EQ(made[2].exempt, (std::vector<std::uint8_t>(4, 1)));
}

/// Returns the terms dS and kappa P for one query and one key, where kappa is 1 / keep_prob and P =
/// 1 / `sum`. The score equals the row's maximum, and the row term (delta) is 0.
auto pair_of(const Numerics& numerics, double sum, double dprob) {
  const Op::Problem p = {
      .dtype = fp16, .seq_q = 1, .seq_kv = 1, .head_dim = 1, .head_dim_v = 1, .scale_value = 1};
  const auto inputs = testing::normal_inputs(p, 1);
  const attention::Dense dense(p, inputs);
  const attention::Call call = attention::call_of(dense, Arithmetic(numerics, fp16));
  engine::ToleranceReading<double, attention::symbols> on(call.units, {});
  const attention::Row<double> row = {.max = 0, .sum = sum, .delta = 0};
  const attention::Pair<double> pair = {
      .score = {}, .dprob = {dprob, std::abs(dprob), dprob * dprob}, .kappa = 1, .bias = 0};
  return attention::pair_terms(on, call, row, pair);
}
bool dscore_may_overflow(const Numerics& numerics, double sum, double dprob) {
  return pair_of(numerics, sum, dprob)[0].overflow > 0;
}
bool prob_may_overflow(const Numerics& numerics, double sum) {
  return pair_of(numerics, sum, 0.5)[1].overflow > 0;
}

TEST(PairsByHand, PossibleOverflowIsReportedWithItsError) {
  // 65,520 is the smallest number that overflows in fp16. 65,500 * (1 + 2^-10) exceeds it, but
  // 65,500 * (1 + 2^-22) does not.
  const double sum = 1.0 / 65500;
  const Numerics exact = {.stage = fp16, .fused = false},
                 rough = {.stage = fp16, .exp_error = 0x1p-10};
  EXPECT_FALSE(prob_may_overflow(exact, sum));
  EXPECT_TRUE(prob_may_overflow(rough, sum));
  EXPECT_FALSE(prob_may_overflow({.stage = bf16, .exp_error = 0x1p-10}, sum));
  EXPECT_FALSE(dscore_may_overflow(exact, 1, 65500));
  EXPECT_TRUE(dscore_may_overflow(rough, 1, 65500));
  EXPECT_FALSE(dscore_may_overflow(rough, 1, 65400));
  // If the kernel stores dP in fp16, dP becomes infinite from 65,520 on. With the error of its sum,
  // 65,519.99 may reach this limit.
  EXPECT_TRUE(dscore_may_overflow({.store_dp = fp16}, 1, -65519.99));
  EXPECT_FALSE(dscore_may_overflow({.store_dp = fp16}, 1, 65510));
  EXPECT_FALSE(dscore_may_overflow({.store_dp = bf16}, 1, 1e6));
}

/// P = 0.2 plus the declared error 2^-4 may exceed 0.25. From 0.25 on, consecutive bf16 numbers are
/// 2^-9 apart, so storing P adds an error of 2^-10.
TEST(PairsByHand, AStoredProbabilityIsRoundedWithItsResidue) {
  const auto terms = pair_of({.store_p = bf16, .fused = false, .floor = 0x1p-4}, 5, 1);
  EXPECT_NEAR(terms[1].number.rigorous, 0x1p-4 + 0x1p-10, 1e-6);
}

TEST(Expectations, ScoresWhoseErrorsOverflowLeaveNothingToJudge) {
  engine::Output output = output_of(Arithmetic({.fused = false}, fp32), 1);
  output.chain = engine::chain_of(1, output);
  const engine::Element overflowed = {
      .value = 1, .magnitude = 1, .rigorous = std::nan(""), .value_squares = 1};
  const auto x = engine::bound_of(overflowed, output);
  for (const double limit : {x.probable, x.proven, x.radius})
    EXPECT_EQ(limit, std::numeric_limits<double>::infinity());
}

/// Equation E23 (the limit for masked pairs), computed by hand. A kernel may compute a small P (the
/// "residue") instead of 0 for a masked pair. The limit for dq is |scale| * sum |K| * (kappa |dO|
/// max|V| + sum |dO O|), times the residue, with kappa = 1 / keep_prob. Here |scale| and kappa are
/// 2.
TEST(Expectations, FloorsAgreeWithHandComputation) {
  Op::Problem p = {.dtype = fp32,
                   .seq_q = 1,
                   .seq_kv = 2,
                   .head_dim = 2,
                   .head_dim_v = 2,
                   .scale_value = -2,
                   .keep_prob = 0.5,
                   .drop_mask = spec::DropMask::exact};
  Op::Inputs inputs = testing::normal_inputs(p, 1);
  const auto set = [](spec::Tensor& tensor, std::initializer_list<double> values) {
    std::int64_t e = 0;
    for (const double value : values) tensor.store(e++, value);
  };
  set(inputs.query, {3, -4});
  set(inputs.key, {1, -2, 3, 5});
  set(inputs.value, {6, 8, 0, 1});
  set(inputs.dy, {-3, 4});
  set(inputs.attention_in, {1, 2});
  const attention::Dense dense(p, inputs);
  const attention::Floor floor = attention::floor_of(dense);
  const double row = 2 * 5 * 10 + 3 + 8;
  EXPECT_EQ(floor.query_row, std::vector<double>{row});
  EXPECT_EQ(floor.key_sum, (std::vector<double>{2 * 4, 2 * 7}));
  EXPECT_EQ(floor.dk, (std::vector<double>{2 * row * 3, 2 * row * 4}));
  EXPECT_EQ(floor.dv, (std::vector<double>{2 * 3, 2 * 4}));
  EXPECT_EQ(floor.dq(dense, {0, 0, 0}, 1), row * 2 * 7);
}

/// Keys that no query selects have no masked pairs either, so their gradients must be exactly 0.
TEST(Expectations, UnlistedKeysHaveNoTolerance) {
  using Selected = spec::NsaSelectedAttentionGrad;
  Case<Selected> c = {.patterns = {.lists = "shared"}};
  c.problem = {.dtype = fp32,
               .seq_q = 3,
               .seq_kv = 5 * 16,
               .head_dim = 4,
               .head_dim_v = 4,
               .selected_block_size = 16,
               .selected_block_count = 2};
  PreparedCase<Selected> prepared(c, make_inputs(c));
  const std::vector<Expected> expected = prepared.expected({.fused = false, .floor = 0x1p-20});
  for (const Expected& e : expected)
    EXPECT_EQ(std::ranges::count(e.tau, 0.0f), e.name == "dq" ? 0 : 3 * 16 * 4) << e.name;
}

}  // namespace
}  // namespace assay::conformance
