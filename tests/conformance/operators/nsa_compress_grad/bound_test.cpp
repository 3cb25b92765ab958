#include "bilinear/bound.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <span>

#include "assay/conformance/operators/nsa_compress_grad.hpp"
#include "assay/conformance/report/results.hpp"
#include "assay/conformance/report/sentences.hpp"
#include "bilinear/basis.hpp"
#include "judge/certainty.hpp"
#include "kernel.hpp"

namespace assay::conformance {
namespace {

using testing::CompressGradients;
using testing::CompressOp;
using testing::CompressPlan;
using testing::SumOrder;
using Problem = CompressOp::Problem;
using spec::DType;

std::vector<std::int64_t> all_rows(const spec::Extents& extents) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(extents.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

/// A problem with inputs, and the expected values and tolerances of all elements.
struct Trial {
  Trial(const Problem& of, const spec::Numerics& numerics, CompressOp::Inputs given)
      : inputs(std::move(given)),
        problem(of),
        operands(bilinear::form_of<CompressOp>(of), bilinear::tensor_list(inputs)),
        arithmetic(numerics, of.dtype),
        expected(whole_expectations()) {}
  Trial(const Problem& of, const spec::Numerics& numerics, std::uint64_t seed)
      : Trial(of, numerics, testing::compress_inputs(of, seed)) {}

  /// Returns the verdicts on input_grad and weight_grad.
  std::vector<Verdict> judge(const CompressPlan& plan) {
    const CompressGradients g = testing::run_kernel(problem, inputs, plan);
    reports.assign(2, {});
    findings.clear();
    return {compare(expected[0], {g.input_grad.begin(), g.input_grad.end()}, arithmetic, reports[0],
                    findings),
            compare(expected[1], {g.weight_grad.begin(), g.weight_grad.end()}, arithmetic,
                    reports[1], findings)};
  }
  std::vector<std::vector<std::int64_t>> rows() const {
    std::vector<std::vector<std::int64_t>> all;
    for (const bilinear::Sum& sum : operands.form().sums) all.push_back(all_rows(sum.extents));
    return all;
  }
  std::vector<Expectation> whole_expectations() const {
    std::vector<Expectation> whole;
    for (const std::vector<std::int64_t>& of_sum : rows())
      whole.push_back(
          bilinear::expected_rows(operands, arithmetic, whole.size(), of_sum, of_sum.size()));
    return whole;
  }
  std::string first_finding() const {
    return findings.empty() ? "" : sentence_of(findings.front(), {});
  }

  CompressOp::Inputs inputs;
  Problem problem;
  bilinear::Operands operands;
  Arithmetic arithmetic;
  std::vector<Expectation> expected;
  std::vector<TensorReport> reports;
  std::vector<Finding> findings;
};

const std::vector<Verdict> all_conform(2, Verdict::conforms);

/// Makes four sequences: one has tokens after its last window, one has exactly one window, one is
/// empty, and one is shorter than a window.
Problem problem_of(DType dtype, std::int64_t size = 48, std::int64_t stride = 16) {
  return {.dtype = dtype,
          .batch = 4,
          .heads = 3,
          .seq = 203,
          .lengths = {203, size, 0, size - 1},
          .head_dim = 32,
          .compress_block_size = size,
          .compress_stride = stride};
}

CompressPlan plan_of(DType dtype, SumOrder order) {
  return {.order = order, .cast = dtype == DType::fp16 ? testing::to_fp16 : testing::to_bf16};
}

constexpr SumOrder all_orders[] = {SumOrder::ascending, SumOrder::shuffled, SumOrder::pairwise,
                                   SumOrder::windows};

TEST(CompressBound, HealthyOrdersConformAndErrorsAreOfTheExpectedSize) {
  for (const DType dtype : {DType::fp16, DType::bf16})
    for (const SumOrder order : all_orders)
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        Trial trial(problem_of(dtype), {}, seed);
        CompressPlan plan = plan_of(dtype, order);
        plan.seed = seed;
        EXPECT_EQ(trial.judge(plan), all_conform) << trial.first_finding();
        for (const TensorReport& report : trial.reports) {
          EXPECT_GT(report.worst, 0.7) << report.name;  // a rounding near a tie
          EXPECT_GT(report.rms, 0.8) << report.name;
          EXPECT_LT(report.rms, 1.1) << report.name;
        }
      }
}

TEST(CompressBound, EveryOverlapConforms) {
  for (const auto& [size, stride] : {std::pair{32, 16}, {64, 16}, {128, 16}, {48, 32}, {64, 48}}) {
    Trial trial(problem_of(DType::bf16, size, stride), {}, 9);
    EXPECT_EQ(trial.judge(plan_of(DType::bf16, SumOrder::shuffled)), all_conform)
        << size << ' ' << stride << ' ' << trial.first_finding();
  }
}

TEST(CompressBound, EveryInputProfileConforms) {
  const auto profiles = {"normal",         "all_positive",   "offset",  "outliers",
                         "cancelling",     "ones",           "one_hot", "sparse_dy",
                         "subnormal_fp16", "large_exponent", "tiny_dy", "huge_dy"};
  for (const char* profile : profiles)
    for (const DType dtype : {DType::fp16, DType::bf16})
      for (const auto cast :
           {dtype == DType::fp16 ? testing::to_fp16 : testing::to_bf16,
            dtype == DType::fp16 ? testing::to_fp16_away : testing::to_bf16_away}) {
        Case<CompressOp> c{.problem = problem_of(dtype), .seed = 3};
        c.profile = profile;
        const bool is_away = cast == testing::to_fp16_away || cast == testing::to_bf16_away;
        Trial trial(c.problem, {.round_out = is_away ? spec::Rounding::rna : spec::Rounding::rne},
                    make_inputs(c));
        for (const SumOrder order : all_orders) {
          EXPECT_EQ(trial.judge({.order = order, .cast = cast}), all_conform)
              << profile << ' ' << to_string(dtype) << ' ' << trial.first_finding();
        }
        for (const Expectation& e : trial.expected)
          EXPECT_EQ(judge_controls(e, trial.arithmetic).letters, "Z+N+L+S+W+") << profile;
      }
}

TEST(CompressBound, DeclaredStagingConforms) {
  struct Staging {
    spec::Rounding round;
    float (*stage)(float);
  };
  for (const auto& [round, stage] : {Staging{spec::Rounding::rne, testing::to_bf16},
                                     {spec::Rounding::rna, testing::to_bf16_away},
                                     {spec::Rounding::rtz, testing::to_bf16_truncated}})
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      Trial trial(problem_of(DType::bf16), {.stage = DType::bf16, .round_stage = round}, seed);
      CompressPlan plan = plan_of(DType::bf16, SumOrder::shuffled);
      plan.stage = stage;
      EXPECT_EQ(trial.judge(plan), all_conform) << to_string(round) << trial.first_finding();
    }
  Trial trial(problem_of(DType::fp16), {.stage = DType::fp16}, 2);
  CompressPlan plan = plan_of(DType::fp16, SumOrder::windows);
  plan.stage = testing::to_fp16;
  EXPECT_EQ(trial.judge(plan), all_conform) << trial.first_finding();
}

TEST(CompressBound, ProductsWithEqualRoundingConform) {
  Problem p = problem_of(DType::bf16);
  CompressOp::Inputs inputs = testing::compress_inputs(p, 1);
  for (auto* tensor : {&inputs.output_grad, &inputs.input, &inputs.weight})
    for (const std::int64_t e : spec::viewed_elements(*tensor)) tensor->store(e, 1.3359375);
  Trial trial(p, {.stage = DType::bf16}, inputs);
  CompressPlan plan = plan_of(DType::bf16, SumOrder::ascending);
  plan.stage = testing::to_bf16;
  EXPECT_EQ(trial.judge(plan), all_conform) << trial.first_finding();
}

TEST(CompressBound, DeclaredPartialsConform) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Trial trial(problem_of(DType::bf16), {.partials = DType::bf16}, seed);
    CompressPlan plan = plan_of(DType::bf16, SumOrder::windows);
    plan.contribution = testing::to_bf16;
    EXPECT_EQ(trial.judge(plan), all_conform) << trial.first_finding();
  }
}

TEST(CompressBound, DeclaredHalfAccumulatorConforms) {
  for (const SumOrder order : {SumOrder::ascending, SumOrder::shuffled, SumOrder::windows})
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      Trial trial(problem_of(DType::fp16), {.accumulator = spec::Accumulator::fp16}, seed);
      CompressPlan plan = plan_of(DType::fp16, order);
      plan.seed = seed;
      plan.stage = plan.add_to = testing::to_fp16;
      EXPECT_EQ(trial.judge(plan), all_conform) << trial.first_finding();
    }
}

TEST(CompressBound, TruncatingCastIsJudgedOnlyByElements) {
  Trial trial(problem_of(DType::bf16), {.round_out = spec::Rounding::rtz}, 4);
  CompressPlan plan = plan_of(DType::bf16, SumOrder::ascending);
  plan.cast = testing::to_bf16_truncated;
  EXPECT_EQ(trial.judge(plan), all_conform) << trial.first_finding();
  for (const TensorReport& report : trial.reports) EXPECT_EQ(report.rms, 0) << report.name;
}

/// Each element is a long sum of 8192 products.
TEST(CompressBound, LongSumsConformInEveryOrder) {
  const Problem p = {.dtype = DType::fp16, .heads = 1, .seq = 32 + 16 * 127, .head_dim = 64};
  for (const SumOrder order : all_orders) {
    Trial trial(p, {}, 11);
    EXPECT_EQ(trial.judge(plan_of(DType::fp16, order)), all_conform) << trial.first_finding();
  }
}

/// A fault of the kernel with an error above the rigorous bound, so that the judge detects it in
/// every run and not only by chance.
struct Bug {
  const char* name;
  CompressPlan plan;
  bool in_input_grad, in_weight_grad;
};

std::vector<Bug> bugs() {
  const CompressPlan healthy = plan_of(DType::bf16, SumOrder::ascending);
  std::vector<Bug> all;
  const auto add = [&](const char* name, bool in_input, bool in_weight, auto change) {
    all.push_back({name, healthy, in_input, in_weight});
    change(all.back().plan);
  };
  add("an overlap counted once", true, false, [](CompressPlan& k) { k.overlap = false; });
  add("the last window dropped", true, true, [](CompressPlan& k) { k.skipped_window = 10; });
  add("one channel missing in weight_grad", false, true,
      [](CompressPlan& k) { k.weight_channels = 31; });
  add("weight_grad one percent too large", false, true,
      [](CompressPlan& k) { k.weight_factor = 1.01; });
  add("windows one token late", true, true, [](CompressPlan& k) {
    k.start = [](const Problem& p, std::int64_t, std::int64_t i) {
      return i * p.compress_stride + 1;
    };
  });
  add("windows at multiples of their size", true, true, [](CompressPlan& k) {
    k.start = [](const Problem& p, std::int64_t, std::int64_t i) {
      return i * p.compress_block_size;
    };
  });
  return all;
}

TEST(CompressBound, SimpleFaultsAreProven) {
  for (const Bug& bug : bugs()) {
    Trial trial(problem_of(DType::bf16), {}, 5);
    const auto verdicts = trial.judge(bug.plan);
    EXPECT_EQ(verdicts[0] == Verdict::nonconformant_proven, bug.in_input_grad) << bug.name;
    EXPECT_EQ(verdicts[1] == Verdict::nonconformant_proven, bug.in_weight_grad) << bug.name;
  }
}

TEST(CompressBound, UndeclaredRoundingIsCaught) {
  Trial staged(problem_of(DType::bf16), {}, 5);
  CompressPlan plan = plan_of(DType::bf16, SumOrder::ascending);
  plan.stage = testing::to_bf16;
  for (const Verdict verdict : staged.judge(plan)) EXPECT_NE(verdict, Verdict::conforms);
  plan = plan_of(DType::bf16, SumOrder::ascending);
  plan.cast = testing::to_bf16_truncated;
  for (const Verdict verdict : staged.judge(plan)) EXPECT_NE(verdict, Verdict::conforms);
  plan = plan_of(DType::bf16, SumOrder::windows);
  plan.add_to = testing::to_bf16;
  for (const Verdict verdict : staged.judge(plan)) EXPECT_NE(verdict, Verdict::conforms);
}

TEST(CompressBound, TokensWithoutWindowHaveNoTolerance) {
  const Problem p = problem_of(DType::bf16);
  Trial trial(p, {}, 5);
  const Expectation& e = trial.expected[0];
  std::int64_t bare = 0;
  for (std::int64_t row = 0; row < e.row_count(); ++row) {
    const auto [b, n, s] = e.extents.position(row);
    const bool is_covered = (b == 0 && s < 192) || b == 1;
    for (std::int64_t d = 0; d < e.dim(); ++d) {
      const auto k = static_cast<std::size_t>(row * e.dim() + d);
      EXPECT_EQ(e.tau[k] > 0, is_covered);
      EXPECT_EQ(e.value[k] == 0, !is_covered);
    }
    bare += is_covered ? 0 : 1;
  }
  EXPECT_EQ(bare, 3 * (11 + 47));
}

TEST(CompressBound, WeightGradIsAColumnOfEveryHead) {
  Trial trial(problem_of(DType::bf16), {}, 5);
  const Expectation& e = trial.expected[1];
  EXPECT_EQ(e.elements(), 48 * 3);
  const Finding place = locate(e, 48 + 7);
  EXPECT_EQ(place.n, 1);
  EXPECT_EQ(place.s, 7);
  double sum = 0;
  const spec::Extents windows = output_extents(trial.problem),
                      inputs = input_extents(trial.problem);
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t i = 0; i < windows.length(b); ++i)
      for (std::int64_t c = 0; c < 32; ++c)
        sum += trial.operands.row(0, windows.row(b, 1, i))[c] *
               trial.operands.row(1, inputs.row(b, 1, 16 * i + 7))[c];
  EXPECT_NEAR(e.value[48 + 7], sum, 1e-12);
}

TEST(CompressBound, ControlsAreCaught) {
  for (const DType dtype : {DType::fp16, DType::bf16}) {
    Trial trial(problem_of(dtype), {}, 5);
    for (const Expectation& e : trial.expected)
      EXPECT_EQ(judge_controls(e, trial.arithmetic).letters, "Z+N+L+S+W+") << e.name;
  }
}

/// Fills a tensor with numbers that have few bits and are never 0.
void fill_pattern(spec::Tensor& tensor, std::int64_t seed, double offset) {
  for (std::int64_t e = 0; e < spec::element_count(tensor.shape); ++e)
    tensor.store(e, static_cast<double>((7 * e * e + 3 * e + seed) % 17 - 8) / 4 + offset);
}

/// Returns the sum of k * number k over all numbers. This checksum changes if any single number
/// changes.
double weighed(const Entries<double>& numbers) {
  double sum = 0, weight = 0;
  for (const double x : numbers) sum += ++weight * x;
  return sum;
}

/// Equations E31, E32, E33, E34 (the tolerances of the compression): compares the judge's numbers
/// with the table of conformance/README.md, which was computed independently of the code. The case
/// has 32 windows of 2 channels, and therefore sums of M = 64 products. For such sums the probable
/// error (lambda sqrt M) is smaller than the worst case (M).
TEST(CompressBound, ToleranceAndDeviationMatchIndependentValues) {
  struct Line {
    const char* name;
    DType io;
    spec::Numerics numerics;
    std::vector<std::array<double, 7>>
        tensors;  ///< value, tau, tau_det, sigma, floor, drift, radius
  };
  constexpr DType bf16 = DType::bf16, fp16 = DType::fp16;
  const Line lines[] = {
      {"nothing staged",
       DType::bf16,
       {.fused = false},
       {{12620.375, 2717.75153796887, 2717.75153796887, 1569.0523959665, 1.27231746951082e-32, 0,
         8.33326790385114e-10},
        {1628.71875, 16.583901200646, 16.6018602252007, 9.49188702731005, 3.97223051029867e-34, 0,
         3.00687807985867e-10}}},
      {"products staged, half away",
       DType::bf16,
       {.stage = bf16, .round_stage = spec::Rounding::rna, .floor = 0x1p-40},
       {{12620.375, 6424.52116384008, 6424.52116384008, 1569.05239597638, 9.84407961368561e-07,
         -177.3203125, 8.33326790385114e-10},
        {1628.71875, 125.361514633353, 125.379522691685, 9.49188702731005, 3.07336449623108e-08, 0,
         3.00687807985867e-10}}},
      {"windows of bf16",
       DType::bf16,
       {.partials = bf16},
       {{12620.375, 6424.52116285567, 6424.52116285567, 2421.23686232691, 1.27231746951082e-32, 0,
         8.33326790385114e-10},
        {1628.71875, 105.853021477625, 105.871020739491, 16.1950175912325, 3.97223051029867e-34, 0,
         3.00687807985867e-10}}},
      {"everything fp16",
       DType::fp16,
       {.stage = fp16, .partials = fp16, .accumulator = spec::Accumulator::fp16},
       {{12620.375, 2479.20990179479, 2479.20990179479, 766.825484842992, 1.27231746951082e-32, 0,
         8.33326790385114e-10},
        {1628.71875, 1202.26626903647, 1350.40689256787, 13.7722388111181, 3.97223051029867e-34, 0,
         3.00687807985867e-10}}},
      {"truncating sums",
       DType::fp16,
       {.accumulator = spec::Accumulator::fp32_truncating},
       {{12620.375, 339.8559506936, 339.8559506936, 196.131600185664, 1.27231746951082e-32, 0,
         8.33326790385114e-10},
        {1628.71875, 2.37791478633881, 2.37791478633881, 1.18650249571148, 3.97223051029867e-34, 0,
         3.00687807985867e-10}}},
  };
  for (const auto& [name, io, numerics, tensors] : lines) {
    SCOPED_TRACE(name);
    const Problem p = {.dtype = io, .seq = 32 + 16 * 31, .head_dim = 2};
    CompressOp::Inputs inputs = testing::compress_inputs(p, 1);
    fill_pattern(inputs.output_grad, 1, 0.125);
    fill_pattern(inputs.input, 2, 0.125);
    fill_pattern(inputs.weight, 3, 0.125 + 0.03125);
    const Trial trial(p, numerics, inputs);
    for (std::size_t t = 0; t < 2; ++t) {
      const Expectation& e = trial.expected[t];
      const Entries<double>* found[] = {&e.value, &e.tau,   &e.tau_det, &e.sigma,
                                        &e.floor, &e.drift, &e.radius};
      for (std::size_t k = 0; k < 7; ++k)
        EXPECT_NEAR(weighed(*found[k]), tensors[t][k], 1e-12 * std::abs(tensors[t][k]))
            << e.name << ' ' << k;
      for (const double share : e.share) EXPECT_EQ(share, 1 / static_cast<double>(e.dim()));
    }
  }
}

/// 256 times 255.75 is 65,472. Two roundings of at most 16 each can turn this product into a number
/// that fp16 rounds to infinity.
TEST(CompressBound, RowsThatMayOverflowInsideAreExempt) {
  const auto exempt = [](double gradient, const spec::Numerics& numerics) {
    const Problem p = {.dtype = DType::fp16, .seq = 32, .head_dim = 1};
    CompressOp::Inputs inputs = testing::compress_inputs(p, 1);
    for (std::int64_t e = 0; e < 32; ++e) inputs.weight.store(e, e == 7 ? 256 : 1);
    inputs.output_grad.store(0, gradient);
    const Trial trial(p, numerics, inputs);
    std::vector<std::uint8_t> wanted(32, 0);
    wanted[7] = 1;
    EXPECT_TRUE(trial.expected[0].exempt == wanted ||
                trial.expected[0].exempt == std::vector<std::uint8_t>(32, 0));
    return trial.expected[0].exempt[7] != 0;
  };
  const spec::Numerics twice = {.stage = DType::fp16, .partials = DType::fp16};
  EXPECT_TRUE(exempt(255.75, twice));
  EXPECT_FALSE(exempt(255.75, {.stage = DType::fp16}));
  EXPECT_FALSE(exempt(255.5, twice));
  EXPECT_FALSE(exempt(255.75, {}));
}

/// The expected values and tolerances can be computed part by part, or stored completely. The
/// judgement must be the same in every bit.
TEST(CompressBound, PartsAreJudgedAsTheWhole) {
  Trial trial({.dtype = DType::bf16, .seq = 16 * 200 + 7, .head_dim = 96},
              spec::numerics_preset("ascend_a2", DType::bf16), 3);
  std::vector<Expectation> parts =
      bilinear::expectations(trial.operands, trial.arithmetic, trial.rows());
  ASSERT_TRUE(parts[0].part);
  const CompressGradients g =
      testing::run_kernel(trial.problem, trial.inputs, {.cast = testing::to_bf16});
  for (std::vector<Expectation>* all : {&trial.expected, &parts}) {
    const auto certifier = std::make_shared<Certifier>(
        bilinear::definition_of<CompressOp>(trial.problem, trial.operands));
    certifier->require_agreement(*all, 1'000'000);
    for (Expectation& e : *all) Certifier::certify(certifier, trial.arithmetic, e);
  }
  for (const bool has_zeros : {false, true}) {
    std::vector<double> actual(g.input_grad.begin(), g.input_grad.end());
    if (has_zeros) std::fill_n(actual.begin() + 690 * 96, 960, 0.0);
    CaseReport whole, in_parts;
    TensorReport &of_whole = whole.tensors.emplace_back(),
                 &of_parts = in_parts.tensors.emplace_back();
    const RowReader rows = [&](std::span<const std::int64_t> numbers) {
      return std::vector<double>(actual.begin() + numbers.front() * 96,
                                 actual.begin() + (numbers.back() + 1) * 96);
    };
    whole.verdict = compare(trial.expected[0], actual, trial.arithmetic, of_whole, whole.findings);
    in_parts.verdict = compare(parts[0], rows, trial.arithmetic, of_parts, in_parts.findings);
    EXPECT_EQ(to_json(whole), to_json(in_parts));
  }
  EXPECT_EQ(judge_controls(trial.expected[0], trial.arithmetic).letters,
            judge_controls(parts[0], trial.arithmetic).letters);
}

}  // namespace
}  // namespace assay::conformance
