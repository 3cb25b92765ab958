#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "assay/conformance/judge/expectation.hpp"
#include "assay/conformance/operators.hpp"
#include "assay/conformance/report/record.hpp"
#include "judge/decide.hpp"
#include "operators/flash_attention_score_grad/basis.hpp"

namespace assay::conformance {
namespace {

using Op = spec::FlashAttentionScoreGrad;

const Arithmetic plain(spec::numerics_preset("fp32_staging", spec::DType::fp32), spec::DType::fp32);

/// Makes two heads of three rows with one channel. Every element has the tolerance 0.1.
Expectation two_heads(const std::vector<double>& values) {
  Expectation e{.name = "dq", .extents = {.batch = 1, .heads = 2, .seq = 3, .dim = 1}};
  e.rows.resize(values.size());
  std::iota(e.rows.begin(), e.rows.end(), 0);
  e.resize(e.row_count());
  std::ranges::copy(values, e.value.begin());
  e.tau.assign(e.value.size(), 0.1);
  e.tau_det = e.tau;
  return e;
}

/// E39.
TEST(Controls, EveryHeadIsChecked) {
  const ControlResult both = judge_controls(two_heads({9, 8, 7, 9, 8, 7}), plain);
  EXPECT_EQ(both.letters, "Z+N+L+S+W+");
  EXPECT_FALSE(both.weak);
  EXPECT_EQ(both.rows_nonzero, 6);
  EXPECT_EQ(both.rows_blind, 0);
  const ControlResult one = judge_controls(two_heads({9, 8, 7, 0.05, -0.05, 0.05}), plain);
  EXPECT_EQ(one.letters, "Z-N-L-S+W-");
  EXPECT_TRUE(one.weak);
  EXPECT_FALSE(one.blind);
  EXPECT_EQ(one.rows_blind, 3);
  EXPECT_EQ(one.blind_heads, Fact(FactKind::zeros_pass_in_heads, "dq", 1, 2, 0, 1));
}

TEST(Controls, ARowOfZerosIsTheMedianOne) {
  const ControlResult last = judge_controls(two_heads({9, 8, 0.05, 9, 8, 7}), plain);
  EXPECT_EQ(last.letters, "Z+N+L-S+W+");
  EXPECT_EQ(last.rows_blind, 1);
  const ControlResult most = judge_controls(two_heads({9, 0.05, 0.05, 9, 8, 7}), plain);
  EXPECT_EQ(most.letters, "Z+N+L-S+W-");
  EXPECT_TRUE(most.weak);
  EXPECT_EQ(judge_controls(two_heads({0.05, 9, 8, 9, 8, 7}), plain).letters, "Z+N+L+S+W+");
}

TEST(Controls, TwoPercentAreRequiredForTheTensor) {
  EXPECT_EQ(judge_controls(two_heads({4.9, 4.9, 4.9, 4.9, 4.9, 4.9}), plain).letters, "Z+N+L+S-W+");
}

TEST(Controls, ExpectedZerosHaveNoControl) {
  const ControlResult none = judge_controls(two_heads({0, 0, 0, 0, 0, 0}), plain);
  EXPECT_EQ(none.letters, "Z.N.L.S.W.");
  EXPECT_FALSE(none.applicable);
  const ControlResult half = judge_controls(two_heads({9, 8, 7, 0, 0, 0}), plain);
  EXPECT_EQ(half.letters, "Z+N+L+S+W+");
  EXPECT_EQ(half.rows_nonzero, 3);
}

TEST(Controls, AnUnknownReferenceIsBlindAndANearlyZeroGradientWeak) {
  Expectation unknown = two_heads({9, 8, 7, 9, 8, 7});
  unknown.radius.assign(unknown.value.size(), HUGE_VAL);
  EXPECT_TRUE(judge_controls(unknown, plain).blind);
  CaseReport report;
  report.tensors = {{.name = "dq"}};
  EXPECT_EQ(control_decision({judge_controls(unknown, plain)}, report), Verdict::inconclusive);
  const ControlResult faint = judge_controls(two_heads({0.05, 0.04, 0, 0.05, 0.01, 0.01}), plain);
  EXPECT_FALSE(faint.blind);
  EXPECT_EQ(faint.letters, "Z-N-L-S-W-");
  report.tensors.push_back({.name = "dv"});
  EXPECT_EQ(control_decision({faint, judge_controls(two_heads({9, 8, 7, 9, 8, 7}), plain)}, report),
            Verdict::conforms_weak);
  EXPECT_EQ(report.tensors[0].rows_nonzero, 5);
  EXPECT_EQ(report.tensors[0].rows_blind, 5);
  EXPECT_EQ(report.findings.back().rule, FindingRule::note);
}

/// With one key, P is 1 except for the rounding of the statistics. 1/keep_prob is not an fp32
/// number, so dq consists only of rounding errors.
TEST(Controls, AGradientOfNoiseMakesItsCaseWeak) {
  const auto c = parse_case<Op>(case_words(
      "flash_attention_score_grad --dtype=fp32 --entry_point=g2 --seq_q=5 --seq_kv=1 --head_dim=16 "
      "--head_dim_v=16 --keep_prob=0.9 --drop_mask=exact --drop=all_kept",
      Op::name));
  const Op::Inputs inputs = make_inputs(c);
  Suite<Op>::Basis basis(c, inputs, plain);
  const std::vector<Expectation> expected = basis.expectations();
  EXPECT_EQ(judge_controls(expected[0], plain).letters, "Z-N-L-S-W-");
  EXPECT_TRUE(judge_controls(expected[0], plain).weak);
  EXPECT_EQ(judge_controls(expected[2], plain).letters, "Z+N+L+S+W+");
}

}  // namespace
}  // namespace assay::conformance
