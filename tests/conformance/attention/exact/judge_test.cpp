#include <gtest/gtest.h>

#include <limits>

#include "assay/conformance/attention/exact_case.hpp"
#include "cases.hpp"
#include "kernels.hpp"

namespace assay::conformance {
namespace {

using exact_case_test::kernel_named;
using exact_case_test::Op;
using exact_case_test::outputs_of;
using exact_case_test::square;
using spec::DType;

/// Prepares one small causal case with the exact outputs.
class ExactCaseJudge : public testing::Test {
 protected:
  ExactCaseJudge() {
    c_.problem.seq_kv = 5;
    c_.problem.sparse_mode = 3;
    c_.problem.atten_mask = spec::MaskShape::compressed;
    exact_case_ = Suite<Op>::exact(c_, numerics_);
    outputs_ = outputs_of(*kernel_, c_, exact_case_.inputs);
  }

  CaseReport judged() const {
    CaseReport report;
    Suite<Op>::compare_exact(exact_case_, c_.problem, outputs_, numerics_, report);
    return report;
  }
  /// Returns the first element of dq with the exact value 0 (zero = true) or with another exact
  /// value (zero = false).
  std::int64_t element_of_dq(bool zero) const {
    std::int64_t element = 0;
    while ((exact_case_.dq[static_cast<std::size_t>(element)].numerator == 0) != zero) ++element;
    return element;
  }

  std::unique_ptr<spec::Implementation<Op>> kernel_ = kernel_named("flash_like");
  Case<Op> c_ = square(8, 16, Track::exact);
  spec::Numerics numerics_ = kernel_->numerics(c_.problem);
  AttentionExactCase exact_case_;
  Op::Outputs outputs_;
};

TEST_F(ExactCaseJudge, CountsEveryElement) {
  const CaseReport report = judged();
  EXPECT_EQ(report.verdict, Verdict::conforms);
  EXPECT_TRUE(report.findings.empty());
  ASSERT_EQ(report.tensors.size(), 3u);
  EXPECT_EQ(report.tensors[0].elements_judged, 8 * 16);
  EXPECT_EQ(report.tensors[0].rows_judged, 8);
  EXPECT_EQ(report.tensors[2].elements_judged, 5 * 16);
  EXPECT_TRUE(report.value_case);
}

TEST_F(ExactCaseJudge, FindsOneChangedBitAndSaysWhere) {
  const std::int64_t element = element_of_dq(false);
  outputs_.dq.bytes[static_cast<std::size_t>(2 * element)] ^= std::byte{1};
  const CaseReport report = judged();
  EXPECT_EQ(report.verdict, Verdict::nonconformant_structural);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].tensor, "dq");
  EXPECT_EQ(report.findings[0].s, element / 16);
  EXPECT_EQ(report.findings[0].d, element % 16);
  EXPECT_EQ(report.tensors[0].worst_at.d, element % 16);
  EXPECT_GE(report.tensors[0].worst, 1.0);
}

TEST_F(ExactCaseJudge, TakesBothZerosAndResiduesUpToTheFloor) {
  const std::int64_t element = element_of_dq(true);
  outputs_.dq.store(element, -0.0);
  EXPECT_EQ(judged().verdict, Verdict::conforms);
  outputs_.dq.store(element, 0x1p-126);
  EXPECT_EQ(judged().verdict, Verdict::conforms);
  outputs_.dq.store(element, 1e-20);
  EXPECT_EQ(judged().verdict, Verdict::nonconformant_structural);
  outputs_.dq.store(element, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(judged().verdict, Verdict::nonconformant_structural);
}

TEST_F(ExactCaseJudge, DemandsExactZerosOfAProfileWithoutFloor) {
  numerics_.floor = 0;
  EXPECT_EQ(judged().verdict, Verdict::conforms);
  outputs_.dq.store(element_of_dq(true), 0x1p-126);
  EXPECT_EQ(judged().verdict, Verdict::nonconformant_structural);
}

TEST_F(ExactCaseJudge, ListsAFewFindingsAndCountsTheRest) {
  for (std::int64_t element = 0; element < 5 * 16; ++element) outputs_.dv.store(element, 1e6);
  const CaseReport report = judged();
  ASSERT_EQ(report.findings.size(), 9u);
  ASSERT_TRUE(report.findings.front().pattern.has_value());
  EXPECT_EQ(report.findings.front().pattern->failing, 80);
  EXPECT_EQ(report.findings.front().pattern->judged, 80);
}

TEST_F(ExactCaseJudge, IgnoresRowsThatAreNotJudged) {
  c_.rows = 2;
  exact_case_ = Suite<Op>::exact(c_, numerics_);
  outputs_ = outputs_of(*kernel_, c_, exact_case_.inputs);
  for (std::int64_t row = 0; row < 8; ++row)
    if (row != exact_case_.query_rows[0] && row != exact_case_.query_rows[1])
      outputs_.dq.store(16 * row, 1e6);
  const CaseReport report = judged();
  EXPECT_EQ(report.verdict, Verdict::conforms);
  EXPECT_EQ(report.tensors[0].rows_judged, 2);
  EXPECT_EQ(report.tensors[0].rows_total, 8);
}

TEST_F(ExactCaseJudge, IsVacuousIfNothingIsCompared) {
  exact_case_.query_rows.clear();
  exact_case_.key_rows.clear();
  EXPECT_EQ(judged().verdict, Verdict::vacuous);
}

TEST_F(ExactCaseJudge, RefusesOutputsOfAnotherShape) {
  outputs_.dq = spec::contiguous_tensor(DType::bf16, {1, 1, 8, 15});
  EXPECT_THROW(judged(), std::invalid_argument);
}

}  // namespace
}  // namespace assay::conformance
