#include <gtest/gtest.h>

#include <cmath>

#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/operators.hpp"
#include "flash_attention_score_grad/kernel/kernel.hpp"
#include "plan/hand_made_cases.hpp"

namespace assay::mutants {
namespace {

using conformance::CaseReport;
using conformance::ExitCode;
using spec::DType;

constexpr Plan plain = {.staging = Staging::fp32};

/// A kernel with an inaccurate exp. Its relative error is up to 2^-21. The sign of the error is
/// always the same, or depends on the argument.
template <bool alternating>
struct InaccurateExp : Kernel {
  using Kernel::Kernel;
  spec::Numerics numerics(const Op::Problem& problem) const override {
    auto declared = Kernel::numerics(problem);
    declared.exp_error = declares_it ? 0x1p-21 : 0x1p-24;
    return declared;
  }
  float probability(const AttentionWork& w, Query q, std::int64_t j,
                    const RowState& row) const override {
    if (!keeps(w, q, j)) return 0;
    const double x = score(w, q, j) - row.softmax_max;
    const double error = 0x1p-21 * (alternating ? std::sin(40 * x) : 1);
    return static_cast<float>(std::exp(x) * (1 + error)) / row.softmax_sum;
  }
  bool declares_it = false;
};

/// A kernel that computes P = exp(S - (m + ln z)).
struct LogSumExp : Kernel {
  using Kernel::Kernel;
  spec::Numerics numerics(const Op::Problem& problem) const override {
    auto declared = Kernel::numerics(problem);
    declared.lse_form = declares_it;
    return declared;
  }
  float probability(const AttentionWork& w, Query q, std::int64_t j,
                    const RowState& row) const override {
    if (!keeps(w, q, j)) return 0;
    return std::exp(score(w, q, j) - (row.softmax_max + std::log(row.softmax_sum)));
  }
  bool declares_it = false;
};

/// Returns the number of cases with this data type in which the kernel fails.
int printed(spec::Implementation<Op>& kernel, DType dtype) {
  int count = 0;
  for (const auto& c : conformance::hand_made_cases<Op>("legal")) {
    if (c.problem.dtype != dtype) continue;
    const CaseReport report = conformance::judge_case(c, kernel);
    if (conformance::contribution(report.verdict) == ExitCode::nonconformant) ++count;
  }
  return count;
}

template <class Kind>
void expect_told_in_fp32_alone() {
  Kind wrong("wrong", plain), narrow("narrow", Plan{});
  EXPECT_GT(printed(wrong, DType::fp32), 0);
  for (const DType dtype : {DType::fp16, DType::bf16}) EXPECT_EQ(printed(narrow, dtype), 0);
}

template <class Kind>
void expect_not_told_where_declared() {
  Kind right("right", plain);
  right.declares_it = true;
  EXPECT_EQ(printed(right, DType::fp32), 0);
}

/// If an error always has the same sign, the judge reports a bias, even if the kernel declares the
/// size of the error.
TEST(Declarations, AnInaccurateExpOfOneSignShowsInFp32) {
  expect_told_in_fp32_alone<InaccurateExp<false>>();
}

TEST(Declarations, AnInaccurateExpOfBothSignsShowsInFp32) {
  expect_told_in_fp32_alone<InaccurateExp<true>>();
  expect_not_told_where_declared<InaccurateExp<true>>();
}

TEST(Declarations, TheFormOfOneRoundedNumberShowsInFp32) {
  expect_told_in_fp32_alone<LogSumExp>();
  expect_not_told_where_declared<LogSumExp>();
}

TEST(Declarations, AFusedExponentShowsInFp32) {
  Plan fused = plain, narrow;
  fused.exponential = narrow.exponential = Exponential::fused_exp2;
  Kernel wrong("wrong", fused, plain), right("right", fused), hidden("hidden", narrow, {});
  EXPECT_GT(printed(wrong, DType::fp32), 0);
  EXPECT_EQ(printed(right, DType::fp32), 0);
  for (const DType dtype : {DType::fp16, DType::bf16}) EXPECT_EQ(printed(hidden, dtype), 0);
}

/// If all inputs have a common offset, the rounding error of the fused constants has the same sign
/// in every P, so that these errors do not average out.
TEST(Declarations, FusedConstantsAreNotRandomErrors) {
  Plan fused = plain;
  fused.exponential = Exponential::fused_exp2;
  Kernel right("right", fused);
  conformance::Case<Op> c{.entry_point = spec::FlashEntryPoint::g2, .profile = "offset"};
  c.problem.dtype = DType::fp32;
  c.problem.seq_q = c.problem.seq_kv = 128;
  c.problem.head_dim = c.problem.head_dim_v = 64;
  c.problem.scale_value = 0.09;
  for (c.seed = 1; c.seed <= 3; ++c.seed) {
    conformance::PreparedCase<Op> prepared(c, make_inputs(c));
    const CaseReport report = conformance::judge_case(prepared, right);
    EXPECT_NE(conformance::contribution(report.verdict), ExitCode::nonconformant) << c.seed;
    for (const auto& tensor : report.tensors)
      EXPECT_GT(tensor.rms, 0.1) << tensor.name << ": R must still apply";
  }
}

TEST(Declarations, StatisticsOfTheKernelsOwnShowInEveryType) {
  Plan own;
  own.stats = spec::Origin::own;
  for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
    Kernel wrong("wrong", own, {}), right("right", own);
    EXPECT_GT(printed(wrong, dtype), 0) << spec::to_string(dtype);
    EXPECT_EQ(printed(right, dtype), 0) << spec::to_string(dtype);
  }
}

/// The kernel computes the row term (delta) from its own output. It rounds P and this output to 16
/// bits, but does not declare the rounding. With a causal mask some rows have few keys. Then dS is
/// the difference of nearly equal numbers, so the rounding is visible.
TEST(Declarations, ARowTermOfTheKernelsOwnOutputShowsIn16Bits) {
  Plan own, of_output;
  own.stats = of_output.stats = spec::Origin::own;
  own.delta = spec::RowTerm::own, of_output.delta = spec::RowTerm::own_output;
  Kernel wrong("wrong", of_output, own), right("right", of_output);
  for (const DType dtype : {DType::fp16, DType::bf16}) {
    conformance::Case<Op> c{.entry_point = spec::FlashEntryPoint::g2};
    c.problem = {.dtype = dtype,
                 .heads_q = 2,
                 .heads_kv = 2,
                 .seq_q = 32,
                 .seq_kv = 32,
                 .head_dim = 16,
                 .head_dim_v = 16,
                 .scale_value = 0.25,
                 .sparse_mode = 2,
                 .atten_mask = spec::MaskShape::compressed};
    int failing = 0;
    for (c.seed = 1; c.seed <= 3; ++c.seed) {
      failing +=
          conformance::judge_case(c, wrong).verdict == conformance::Verdict::nonconformant_proven;
      EXPECT_EQ(conformance::judge_case(c, right).verdict, conformance::Verdict::conforms)
          << c.seed;
    }
    EXPECT_GT(failing, 0) << spec::to_string(dtype);
  }
}

TEST(Declarations, InconsistentStatisticsAreNotJudged) {
  Plan own;
  own.stats = spec::Origin::own;
  Kernel kernel("own", own);
  const conformance::Case<Op> c{.entry_point = spec::FlashEntryPoint::g2,
                                .profile = "foreign_statistics"};
  const CaseReport report = conformance::judge_case(c, kernel);
  EXPECT_EQ(report.verdict.rule(), conformance::Rule::inconsistent_inputs);
  EXPECT_FALSE(report.value_case);
}

TEST(Declarations, HealthyKernelsPass) {
  for (const Plan& plan : {plain, ascend_like, flash_like, Plan{}}) {
    Kernel kernel("healthy", plan);
    for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16})
      EXPECT_EQ(printed(kernel, dtype), 0);
  }
}

}  // namespace
}  // namespace assay::mutants
