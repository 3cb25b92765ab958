#include "attention/bound/bound.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "assay/spec/at.hpp"
#include "judge/certainty.hpp"
#include "model_kernel.hpp"
#include "operators/flash_attention_score_grad/definition.hpp"

namespace assay::conformance {
namespace {

using testing::Gradients;
using testing::KernelPlan;
using testing::Op;

std::vector<std::int64_t> all_rows(std::int64_t extent) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(extent));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

/// A problem with inputs, and the judge's expected values and tolerances for every row.
struct Trial {
  Trial(const Op::Problem& problem, const spec::Numerics& numerics, std::uint64_t seed)
      : inputs(testing::normal_inputs(problem, seed)),
        dense(problem, inputs),
        arithmetic(numerics, problem.dtype),
        judged{all_rows(query_extents(problem).rows()), all_rows(key_extents(problem).rows())},
        expected(attention::expectations(dense, arithmetic, attention::row_terms(dense, arithmetic),
                                         judged)) {}

  std::vector<Verdict> judge(const KernelPlan& plan) {
    const Gradients g = testing::run_kernel(dense.problem, inputs, plan);
    const std::vector<float>* outputs[] = {&g.dq, &g.dk, &g.dv, &g.dq_rope, &g.dk_rope};
    std::vector<Verdict> verdicts(expected.size());
    reports.assign(expected.size(), {});
    for (std::size_t t = 0; t < expected.size(); ++t) {
      verdicts[t] = compare(expected[t], {outputs[t]->begin(), outputs[t]->end()}, arithmetic,
                            reports[t], findings);
    }
    return verdicts;
  }

  Op::Inputs inputs;
  attention::Dense dense;
  Arithmetic arithmetic;
  attention::JudgedRows judged;
  std::vector<Expectation> expected;
  std::vector<TensorReport> reports;
  std::vector<Finding> findings;
};

/// Requires that all expected values differ from a high-precision evaluation of the formulas by at
/// most their radius (the proven error of the reference).
void require_definition(const Trial& trial) {
  const auto definition = flash::definition_of(trial.dense.problem, trial.inputs);
  for (const Expectation& e : trial.expected)
    for (const std::int64_t number : e.rows)
      for (const auto& [name, row] : definition->row(e.name, number))
        if (name == e.name) require_agreement(e, number, row);
}

const std::vector<Verdict> all_conform(3, Verdict::conforms);

Op::Problem problem_of(spec::DType dtype) {
  return {.dtype = dtype,
          .batch = 1,
          .heads_q = 4,
          .heads_kv = 2,
          .seq_q = 67,
          .seq_kv = 81,
          .head_dim = 40,
          .head_dim_v = 24,
          .scale_value = 0.15625};
}

KernelPlan bf16_plan() {
  return {.stage = testing::to_nearest_bf16, .cast = testing::to_nearest_bf16};
}

TEST(Bound, HealthyBf16KernelConformsWithUnitModeratedErrors) {
  Trial trial(problem_of(spec::DType::bf16), {.stage = spec::DType::bf16, .fused = false}, 7);
  EXPECT_EQ(trial.judge(bf16_plan()), all_conform);
  for (const TensorReport& report : trial.reports) {
    EXPECT_LT(report.worst, 1.0) << report.name;
    EXPECT_GT(report.worst, 0.05) << report.name;
    EXPECT_GT(report.rms, 0.4) << report.name;  // the final cast; staging is predicted
    EXPECT_LT(report.rms, 1.05) << report.name;
  }
}

TEST(Bound, HealthyFp32KernelConforms) {
  Trial trial(problem_of(spec::DType::fp32), {.fused = false}, 3);
  EXPECT_EQ(trial.judge({}), all_conform);
  for (const TensorReport& report : trial.reports) EXPECT_GT(report.rms, 0.05) << report.name;
}

TEST(Bound, CausalHealthyKernelConforms) {
  Op::Problem p = problem_of(spec::DType::bf16);
  p.sparse_mode = 3, p.atten_mask = spec::MaskShape::compressed;
  Trial trial(p, {.stage = spec::DType::bf16, .fused = false}, 11);
  EXPECT_EQ(trial.judge(bf16_plan()), all_conform);
}

/// A packed problem with sequences of unequal length, one without queries and one without keys.
Op::Problem ragged_problem(spec::DType dtype) {
  Op::Problem p = problem_of(dtype);
  p.input_layout = spec::Layout::tnd;
  p.batch = 4, p.seq_q = 53, p.seq_kv = 49;
  p.lengths_q = {31, 0, 17, 53}, p.lengths_kv = {49, 12, 0, 33};
  return p;
}

TEST(Bound, HealthyKernelConformsOnUnequalSequencesInEverySparseMode) {
  for (const std::int64_t mode : {2, 3, 4, 6, 7, 8}) {
    Op::Problem p = ragged_problem(spec::DType::bf16);
    p.sparse_mode = mode, p.atten_mask = spec::MaskShape::compressed;
    p.pre_tokens = 60, p.next_tokens = 3;
    if (mode == 6) p.prefix = {5, 0, 0, 33};
    Trial trial(p, {.stage = spec::DType::bf16, .fused = false}, 11);
    EXPECT_EQ(trial.judge(bf16_plan()), all_conform) << mode;
  }
}

TEST(Bound, HealthyKernelConformsWithEveryPositionBias) {
  for (const std::int64_t pse_type : {0, 1, 2, 3})
    for (const auto dtype : {spec::DType::bf16, spec::DType::fp32}) {
      Op::Problem p = problem_of(dtype);
      p.seq_kv = p.seq_q, p.pse_type = pse_type;
      p.pse_shift = pse_type >= 2 ? spec::PseShape::slopes_n : spec::PseShape::bnss;
      const bool narrow = dtype == spec::DType::bf16;
      Trial trial(p, {.stage = dtype, .fused = false}, 5);
      EXPECT_EQ(trial.judge(narrow ? bf16_plan() : KernelPlan{}), all_conform) << pse_type;
    }
}

TEST(Bound, HealthyKernelConformsWithDropout) {
  for (const double keep_prob : {0.5, 0.3}) {
    Op::Problem p = ragged_problem(spec::DType::bf16);
    p.keep_prob = keep_prob, p.drop_mask = spec::DropMask::exact;
    Trial trial(p, {.stage = spec::DType::bf16, .fused = false}, 5);
    EXPECT_EQ(trial.judge(bf16_plan()), all_conform) << keep_prob;
    for (const Expectation& e : trial.expected)
      EXPECT_EQ(judge_controls(e, trial.arithmetic).letters, "Z+N+L+S+W+") << e.name;
    p.keep_prob *= 1.01;  // a kernel that divides by a value 1 % too large
    const Gradients wrong = testing::run_kernel(p, trial.inputs, bf16_plan());
    TensorReport report;
    EXPECT_NE(compare(trial.expected[2], {wrong.dv.begin(), wrong.dv.end()}, trial.arithmetic,
                      report, trial.findings),
              Verdict::conforms);
  }
}

TEST(Bound, RopeAddsToTheScoresAndHasGradientsOfItsOwn) {
  Op::Problem p = ragged_problem(spec::DType::bf16);
  p.head_dim_rope = 16;
  Trial trial(p, {.stage = spec::DType::bf16, .fused = false}, 8);
  EXPECT_EQ(trial.judge(bf16_plan()), std::vector<Verdict>(5, Verdict::conforms));
  EXPECT_EQ(trial.expected[3].name, "dq_rope");
  EXPECT_EQ(trial.expected[4].dim(), 16);
  for (std::size_t t = 0; t < 5; ++t) EXPECT_GT(trial.reports[t].worst, 0.05) << t;
  require_definition(trial);
}

TEST(Bound, OwnStatisticsProfileConforms) {
  Trial trial(problem_of(spec::DType::bf16),
              {.stage = spec::DType::bf16,
               .stats = spec::Origin::own,
               .delta = spec::RowTerm::given,
               .fused = false},
              5);
  EXPECT_EQ(trial.judge(bf16_plan()), all_conform);
}

/// In the LSE form the kernel computes P = exp(score - lse). A rounding error of one query's lse
/// changes P for all keys, and therefore the gradient of every key. With only three queries these
/// errors do not average out. The judge must not report them as a bias.
TEST(Bound, FewQueriesOfAKernelInLseFormAreNotABias) {
  const Op::Problem p = {.dtype = spec::DType::fp32,
                         .batch = 1,
                         .heads_q = 1,
                         .heads_kv = 1,
                         .seq_q = 3,
                         .seq_kv = 200,
                         .head_dim = 32,
                         .head_dim_v = 32,
                         .scale_value = 2};
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Trial trial(p, {.lse_form = true, .fused = false}, seed);
    EXPECT_EQ(trial.judge({.lse_form = true}), all_conform) << seed;
  }
}

/// A kernel whose logarithm has an error of the declared size. The error always has the same sign,
/// or its sign depends on the argument.
TEST(Bound, DeclaredErrorOfTheLogIsAllowed) {
  constexpr double error = 1e-3;
  const auto of_one_sign = [](double x) {
    return std::log(x) + 0.99 * error * std::max(1.0, std::log(x));
  };
  const auto of_both_signs = [](double x) {
    return std::log(x) + 0.99 * error * std::max(1.0, std::log(x)) * std::sin(1e4 * x);
  };
  for (const spec::DType dtype : {spec::DType::fp32, spec::DType::bf16})
    for (const bool fused : {false, true})
      for (const auto& log : {std::function<double(double)>(of_one_sign), {of_both_signs}}) {
        const bool narrow = dtype == spec::DType::bf16;
        KernelPlan plan = narrow ? bf16_plan() : KernelPlan();
        plan.lse_form = true, plan.log = log;
        spec::Numerics numerics{
            .stage = dtype, .lse_form = true, .log_error = error, .fused = fused};
        EXPECT_EQ(Trial(problem_of(dtype), numerics, 5).judge(plan), all_conform);
        plan.log = [&](double x) { return std::log(x) + 30 * error; };
        EXPECT_NE(Trial(problem_of(dtype), numerics, 5).judge(plan), all_conform);
        if (narrow) continue;
        plan.log = log, numerics.log_error = 0x1p-22;
        EXPECT_NE(Trial(problem_of(dtype), numerics, 5).judge(plan), all_conform);
      }
}

/// If the softmax of the only query is peaked, the final cast flushes most of dk and dv to 0, so
/// these errors all have the same direction.
TEST(Bound, GradientsThatUnderflowInTheCastConform) {
  KernelPlan plan;
  plan.cast = [](float x) {
    return static_cast<float>(spec::round_to(static_cast<double>(x), spec::fp16_format));
  };
  const Op::Problem p = {.dtype = spec::DType::fp16,
                         .heads_q = 6,
                         .heads_kv = 3,
                         .seq_q = 1,
                         .seq_kv = 385,
                         .head_dim = 129,
                         .head_dim_v = 31,
                         .scale_value = 1};
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Trial trial(p, {.fused = false, .floor = 0}, seed);
    EXPECT_EQ(trial.judge(plan), all_conform) << seed;
  }
}

TEST(Bound, TruncatingAccumulatorsAreJudgedOnlyByElements) {
  Trial trial(problem_of(spec::DType::fp32),
              {.accumulator = spec::Accumulator::fp32_truncating, .fused = false}, 3);
  EXPECT_EQ(trial.judge({}), all_conform);
  for (const TensorReport& report : trial.reports) EXPECT_EQ(report.rms, 0) << report.name;
}

TEST(Bound, MissingRowTermIsProvenInDqAndDk) {
  Trial trial(problem_of(spec::DType::bf16), {.stage = spec::DType::bf16, .fused = false}, 7);
  KernelPlan plan = bf16_plan();
  plan.row_term = false;
  const auto verdicts = trial.judge(plan);
  EXPECT_EQ(verdicts[0], Verdict::nonconformant_proven);
  EXPECT_EQ(verdicts[1], Verdict::nonconformant_proven);
  EXPECT_EQ(verdicts[2], Verdict::conforms);
}

TEST(Bound, OnePercentOnDkIsCaught) {
  Trial trial(problem_of(spec::DType::bf16), {.stage = spec::DType::bf16, .fused = false}, 7);
  KernelPlan plan = bf16_plan();
  plan.dk_scale = 1.01f;
  EXPECT_NE(trial.judge(plan)[1], Verdict::conforms);
}

TEST(Bound, LastKeyDroppedIsCaught) {
  Trial trial(problem_of(spec::DType::fp32), {.fused = false}, 9);
  EXPECT_EQ(trial.judge({.skipped_key = 80})[2], Verdict::nonconformant_proven);
}

TEST(Bound, UndeclaredStagingIsCaught) {
  Trial trial(problem_of(spec::DType::fp32), {.fused = false}, 9);
  KernelPlan plan;
  plan.stage = testing::to_nearest_bf16;
  EXPECT_NE(trial.judge(plan)[0], Verdict::conforms);
}

TEST(Bound, ControlsAreCaughtInEveryTensor) {
  for (const spec::DType dtype : {spec::DType::bf16, spec::DType::fp16, spec::DType::fp32}) {
    Trial trial(problem_of(dtype), spec::numerics_preset("ascend_a2", dtype), 7);
    for (const Expectation& e : trial.expected)
      EXPECT_EQ(judge_controls(e, trial.arithmetic).letters, "Z+N+L+S+W+") << e.name;
  }
}

TEST(Bound, ControlsAreNotApplicableWithOneKey) {
  Op::Problem p = problem_of(spec::DType::bf16);
  p.seq_kv = 1;
  Trial trial(p, spec::numerics_preset("ascend_a2", p.dtype), 7);
  EXPECT_EQ(judge_controls(trial.expected[0], trial.arithmetic).letters, "Z.N.L.S.W.");
  EXPECT_EQ(judge_controls(trial.expected[2], trial.arithmetic).letters, "Z+N+L+S+W+");
}

/// Returns the rows of dq or dk in which the reference is 0 and its error radius is also 0.
std::vector<std::int64_t> known_zeros(const Expectation& e) {
  std::vector<std::int64_t> rows;
  for (std::int64_t r = 0; r < e.row_count(); ++r) {
    const auto is_zero = [&](const Entries<double>& x) {
      return std::all_of(x.begin() + r * e.dim(), x.begin() + (r + 1) * e.dim(),
                         [](double number) { return number == 0; });
    };
    if (is_zero(e.value) && is_zero(e.radius)) rows.push_back(r);
  }
  return rows;
}

/// Returns the expected values and tolerances of a problem. All rows of value are equal, and the
/// output of query 2 is `factor` times this row.
std::vector<Expectation> with_equal_values(double factor) {
  Op::Problem p = problem_of(spec::DType::bf16);
  p.heads_q = p.heads_kv = 1;
  Op::Inputs inputs = testing::normal_inputs(p, 5);
  const std::int64_t dim = p.head_dim_v;
  for (std::int64_t e = 0; e < p.seq_kv * dim; ++e)
    inputs.value.store(e, inputs.value.load(e % dim));
  for (std::int64_t d = 0; d < dim; ++d)
    inputs.attention_in.store(2 * dim + d, factor * inputs.value.load(d));
  const attention::Dense dense(p, inputs);
  const Arithmetic arithmetic({}, p.dtype);
  const attention::JudgedRows judged{all_rows(p.seq_q), all_rows(p.seq_kv)};
  return attention::expectations(dense, arithmetic, attention::row_terms(dense, arithmetic),
                                 judged);
}

/// A head whose sums of all keys are too large to be in memory at the same time.
Op::Problem long_head(std::int64_t sparse_mode) {
  return {.dtype = spec::DType::bf16,
          .heads_q = 1,
          .heads_kv = 1,
          .seq_q = 1100,
          .seq_kv = 1100,
          .head_dim = 640,
          .head_dim_v = 640,
          .scale_value = 0.0390625,
          .sparse_mode = sparse_mode,
          .pre_tokens = 40,
          .next_tokens = 0,
          .atten_mask = spec::MaskShape::compressed};
}

// With a band, one pass computes all gradients; without, keys are divided among passes; if few rows
// are judged, each gradient has its own passes.
TEST(Bound, ALongHeadHasTheSameValuesInAnyNumberOfPasses) {
  for (const std::int64_t sparse_mode : {3, 4}) {
    SCOPED_TRACE(sparse_mode);
    const Trial all(long_head(sparse_mode), {}, 3);
    const attention::JudgedRows judged = {{0, 5, 600, 1099}, {0, 700, 1023, 1024, 1099}};
    const std::vector<Expectation> few = attention::expectations(
        all.dense, all.arithmetic, attention::row_terms(all.dense, all.arithmetic), judged);
    for (std::size_t t = 0; t < few.size(); ++t)
      for (std::int64_t r = 0; r < few[t].row_count(); ++r)
        for (std::int64_t d = 0; d < 640; ++d) {
          const auto one = static_cast<std::size_t>(r * 640 + d),
                     same = static_cast<std::size_t>(few[t].rows[spec::at(r)] * 640 + d);
          ASSERT_EQ(few[t].value[one], all.expected[t].value[same]) << few[t].name << one;
          ASSERT_NEAR(few[t].tau[one], all.expected[t].tau[same], 1e-4 * few[t].tau[one]);
        }
  }
}

TEST(Bound, KeysAtOnceAreThoseOfTheBand) {
  const auto keys_at_once = [](const Op::Problem& p) {
    const Op::Inputs inputs = testing::normal_inputs(p, 1);
    return attention::keys_at_once(attention::Dense(p, inputs), {p.batch - 1, 0, 0});
  };
  Op::Problem p = long_head(4);
  p.head_dim = p.head_dim_v = 8;
  EXPECT_EQ(keys_at_once(p), 41);
  p.seq_q = 1000;  // the band ends at the last key
  EXPECT_EQ(keys_at_once(p), 41);
  p.heads_q = 2;  // the second head reaches the first keys again
  EXPECT_EQ(keys_at_once(p), 1100);
  p.heads_q = 1, p.sparse_mode = 3;
  EXPECT_EQ(keys_at_once(p), 1100);
  p.seq_q = 1200;  // the first queries have no key
  EXPECT_EQ(keys_at_once(p), 1100);
  p.seq_q = p.seq_kv = 0;
  EXPECT_EQ(keys_at_once(p), 0);
}

TEST(Bound, ARowWhoseValuesAreItsOutputHasNoGradientAtAll) {
  using Rows = std::vector<std::int64_t>;
  const auto equal = with_equal_values(1);
  EXPECT_EQ(known_zeros(equal[0]), Rows{2});
  EXPECT_EQ(known_zeros(equal[1]), Rows());  // the other queries attend to all keys
  EXPECT_EQ(known_zeros(with_equal_values(2)[0]), Rows());
  Op::Problem p = problem_of(spec::DType::fp32);
  p.seq_kv = 1;
  const Trial of_one_key(p, {}, 7);
  EXPECT_EQ(known_zeros(of_one_key.expected[0]), all_rows(4 * p.seq_q));
  EXPECT_EQ(known_zeros(of_one_key.expected[1]), all_rows(2));
  EXPECT_EQ(known_zeros(of_one_key.expected[2]), Rows());
  // If a kernel computes the row term (delta, the sum of dO * O) itself, it adds in another order
  // than for dP. So the difference dP - delta is not exactly 0, and neither is dq.
  const Trial of_own(p, {.delta = spec::RowTerm::own}, 7);
  EXPECT_EQ(known_zeros(of_own.expected[0]), Rows());
}

TEST(Bound, DoubleEngineAgreesWithTheDefinition) {
  Op::Problem p = problem_of(spec::DType::fp32);
  p.seq_q = 21, p.seq_kv = 18;
  Trial trial(p, spec::numerics_preset("ascend_a2", p.dtype), 2);
  require_definition(trial);
  trial.expected[1].value[5] *= 1 + 1e-9;
  EXPECT_THROW(require_definition(trial), std::logic_error);
}

TEST(Bound, InfinityWhereNothingOverflowsIsStructural) {
  Trial trial(problem_of(spec::DType::bf16), {.stage = spec::DType::bf16, .fused = false}, 7);
  KernelPlan plan = bf16_plan();
  plan.dk_scale = HUGE_VALF;
  EXPECT_EQ(trial.judge(plan)[1], Verdict::nonconformant_structural);
}

}  // namespace
}  // namespace assay::conformance
