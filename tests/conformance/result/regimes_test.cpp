#include "assay/conformance/result/regimes.hpp"

#include <gtest/gtest.h>

#include "assay/conformance/report/sentences.hpp"

namespace assay::conformance {
namespace {

CaseReport report(const std::string& operator_name, double whole, double tail, bool fails = false) {
  CaseReport one;
  one.operator_name = operator_name;
  one.value_case = true;
  one.verdict = fails ? Decision{Rule::bound, Ground::certain, {}} : no_objection();
  const std::string unit(spec::regime_unit);
  one.metrics = {{"makespan", 3, "cycle"}, {"whole", whole, unit}, {"tail", tail, unit}};
  return one;
}

TEST(Regimes, AreCountedByTheCasesThatTookThem) {
  const auto regimes = regimes_of(
      {report("a", 2, 0), report("a", 1, 1, true), report("b", 1, 0), report("a", 9, 0)});
  ASSERT_EQ(regimes.size(), 4U);
  EXPECT_EQ(regimes[0].operator_name, "a");
  EXPECT_EQ(regimes[0].name, "whole");
  EXPECT_EQ(regimes[0].cases, 3);
  EXPECT_EQ(regimes[0].failing, 1);
  EXPECT_TRUE(regimes[0].not_with.empty());
  EXPECT_EQ(regimes[1].name, "tail");
  EXPECT_EQ(regimes[1].cases, 1);
  EXPECT_EQ(regimes[3].operator_name, "b");
  EXPECT_EQ(regimes[3].cases, 0);
  EXPECT_TRUE(regimes[3].not_with.empty()) << "a count of 0 already says that no case took it";
}

TEST(Regimes, RegimesWithoutACommonCaseAreNamed) {
  const auto regimes = regimes_of({report("a", 1, 0), report("a", 0, 1)});
  ASSERT_EQ(regimes.size(), 2U);
  EXPECT_EQ(regimes[0].not_with, std::vector<std::string>{"tail"});
  EXPECT_EQ(regimes[1].not_with, std::vector<std::string>{"whole"});
}

TEST(Regimes, InvalidRegimesAreReportedAndNotCounted) {
  CaseReport one = report("a", 1, 1);
  const std::string unit(spec::regime_unit);
  one.metrics = {{"tile.tail", 3, unit},    {"tile.tail", 0, unit}, {"dtype", 1, unit},
                 {"tile.whole", 0.5, unit}, {"tile.a", -1, unit},   {"tile.b", 1e300, unit},
                 {"dtype", 7, "cycle"}};
  sort_out_regimes(one);
  ASSERT_EQ(one.metrics.size(), 2U);
  EXPECT_EQ(one.metrics[0].value, 3);
  EXPECT_EQ(one.metrics[1].unit, "cycle");
  ASSERT_EQ(one.findings.size(), 1U);
  EXPECT_EQ(
      sentence_of(one.findings[0], one),
      "5 of its regimes are invalid and ignored; the first is 'tile.tail', 0 times: it is reported "
      "twice");
  sort_out_regimes(one);
  EXPECT_EQ(one.findings.size(), 1U);
}

TEST(Regimes, CasesThatAreNotNumericallyJudgedDoNotCount) {
  CaseReport refused = report("a", 1, 1);
  refused.value_case = false;
  EXPECT_TRUE(regimes_of({refused}).empty());
}

}  // namespace
}  // namespace assay::conformance
