#include <gtest/gtest.h>

#include "assay/conformance/causes/causes.hpp"
#include "assay/conformance/report/cause_text.hpp"
#include "failing_cases.hpp"

/// Tests kernels with two faults that make different outputs of the same cases wrong.
namespace assay::conformance {
namespace {

const Deviation no_relation = {};

/// Returns cases of the attention gradient in which the outputs `first` and `second` always fail
/// with these deviations.
std::vector<CaseReport> failing(const std::string& first, const Deviation& of_first,
                                const std::string& second, const Deviation& of_second) {
  auto all = reports([&](const std::string&, int, int) { return Names{first, second}; });
  for (CaseReport& one : all) {
    one.operator_name = "flash_attention_score_grad";
    for (Finding& finding : one.findings) {
      finding.pattern->places = {};
      finding.pattern->deviation = finding.tensor == first ? of_first : of_second;
    }
  }
  return all;
}

TEST(TwoFaults, AFactorOfOneOutputIsNotTheBugOfAnother) {
  const auto causes = causes_of(failing("dk", times(2), "dv", no_relation), {});
  ASSERT_EQ(causes.size(), 2U);
  EXPECT_EQ(causes[0].stage, "the sum over queries that gives dk");
  EXPECT_TRUE(causes[1].stage.ends_with("the sum over queries that gives dv")) << causes[1].stage;
}

TEST(TwoFaults, ADifferentFactorIsAnotherBug) {
  auto all = failing("dk", times(2), "dq", times(0, {"1 / scale_value"}));
  double scale = 0;
  for (CaseReport& one : all)
    for (Finding& finding : one.findings)
      if (finding.tensor == "dq")
        finding.pattern->deviation.factor = 3 + ++scale;
      else
        finding.pattern->deviation.factor = 2 + 0.0001 * scale;  // rounded
  const auto causes = causes_of(all, {});
  ASSERT_EQ(causes.size(), 2U);
  EXPECT_EQ(causes[0].outputs.size() + causes[1].outputs.size(), 2U);
  EXPECT_EQ(causes_of(failing("dk", times(2), "dq", times(2.003)), {}).size(), 1U);
}

/// Dropout's factor 1 / keep_prob multiplies P in dv, but only dP in dS. A single fault in the
/// factor therefore makes dv a multiple of the expected value, and dk wrong without a common
/// factor.
TEST(TwoFaults, TheFactorOfDropoutIsOneBug) {
  EXPECT_EQ(causes_of(failing("dk", no_relation, "dv", times(2, {"1 / keep_prob"})), {}).size(),
            1U);
}

/// If P is wrong by a factor in some rows, dq is a multiple of the expected value in these rows,
/// and dk is wrong without a common factor.
TEST(TwoFaults, AFactorInSomeRowsIsOneBug) {
  auto all = failing("dk", no_relation, "dq", times(2));
  for (CaseReport& one : all)
    for (Finding& finding : one.findings)
      if (finding.tensor == "dq") finding.pattern->places = {{"s", PlaceKind::range, {4}}};
  EXPECT_EQ(causes_of(all, {}).size(), 1U);
}

/// A forward writes the softmax statistics and the output. One wrong statistic can make the output
/// wrong in another way, so both failures may have one cause.
TEST(TwoFaults, OutputsWithoutAStageOfTheirOwnMayShareABug) {
  auto all = failing("dk", times(2), "dv", no_relation);
  for (CaseReport& one : all) one.operator_name = "toy";
  EXPECT_EQ(causes_of(all, {}).size(), 1U);
}

TEST(TwoFaults, AStageIgnoresARuleThatSelectsFewOfItsCases) {
  auto all = reports([](const std::string&, int seq, int mode) {
    if (seq < 3) return Names{};
    return mode == 3 && seq >= 7 ? Names{"dk", "dq", "dv"} : Names{"dv"};
  });
  for (CaseReport& one : all) one.operator_name = "flash_attention_score_grad";
  const auto causes = causes_of(all, {});
  ASSERT_EQ(causes.size(), 2U);
  EXPECT_EQ(term_texts(causes[0]), Names{"seq_q>=3"});
  EXPECT_TRUE(causes[0].stage.ends_with("the sum over queries that gives dv")) << causes[0].stage;
  EXPECT_EQ(causes[1].stage, "dP, the row term or dS");
}

}  // namespace
}  // namespace assay::conformance
