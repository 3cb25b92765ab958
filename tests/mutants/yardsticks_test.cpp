#include "yardsticks.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace assay::mutants {
namespace {

using conformance::CaseReport;
using conformance::Rule;
using conformance::Verdict;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Makes a report of one tensor with these errors: the largest (mare), mean (mere) and root mean
/// square (rmse) relative error, and the largest error.
CaseReport with_errors(double mare, double mere, double rmse, double largest) {
  CaseReport report;
  report.verdict = conformance::no_objection();
  report.tensors.emplace_back();
  report.tensors.back().name = "dq";
  report.tensors.back().yardsticks = {{"MARE", mare},
                                      {"MERE", mere},
                                      {"RMSE", rmse},
                                      {"passes_ascend_single_benchmark", 1},
                                      {"largest_error", largest},
                                      {"share_beyond_torch_assert_close", 0},
                                      {"share_beyond_op_plugin_0.005", 0},
                                      {"share_beyond_kernelbench_1e-2", 0}};
  return report;
}

/// Returns the names of other projects' rules that `report` violates when it is compared with the
/// report of a plain kernel.
std::vector<std::string> flagging(const CaseReport& report) {
  const auto fails = failed_by(report, with_errors(0.1, 0.01, 0.02, 0.5));
  const auto names = yardstick_names();
  EXPECT_EQ(fails.size(), names.size());
  std::vector<std::string> all;
  for (std::size_t k = 0; k < fails.size(); ++k)
    if (fails[k]) all.push_back(names[k]);
  return all;
}

using Names = std::vector<std::string>;

TEST(Yardsticks, FailBeyondTheirRatiosAndNotAtThem) {
  const std::string level_0 = "Ascend double benchmark, level 0: 10, 2, 2";
  const std::string level_2 = "Ascend double benchmark, level 2: 2, 1.2, 1.2";
  EXPECT_EQ(flagging(with_errors(0.1, 0.01, 0.02, 0.5)), Names{});
  EXPECT_EQ(flagging(with_errors(0.2, 0.012, 0.024, 1.5)), Names{});
  EXPECT_EQ(flagging(with_errors(0.21, 0.01, 0.02, 0.5)), Names{level_2});
  EXPECT_EQ(flagging(with_errors(0.1, 0.01, 0.025, 0.5)), Names{level_2});
  EXPECT_EQ(flagging(with_errors(0.1, 0.021, 0.02, 0.5)), (Names{level_0, level_2}));
  EXPECT_EQ(flagging(with_errors(1.1, 0.01, 0.02, 0.5)), (Names{level_0, level_2}));
  EXPECT_EQ(flagging(with_errors(0.1, 0.01, 0.02, 1.6)),
            Names{"3 times the error of plain arithmetic"});
}

TEST(Yardsticks, FailForAnyElementBeyondAFixedTolerance) {
  for (const auto& [figure, rule] :
       {std::pair<const char*, const char*>{"share_beyond_torch_assert_close",
                                            "PyTorch assert_close"},
        {"share_beyond_op_plugin_0.005", "fixed 0.005 (op-plugin)"},
        {"share_beyond_kernelbench_1e-2", "fixed 0.01 (KernelBench)"}}) {
    CaseReport report = with_errors(0.1, 0.01, 0.02, 0.5);
    for (auto& [name, value] : report.tensors[0].yardsticks)
      if (name == figure) value = 1e-6;
    EXPECT_EQ(flagging(report), Names{rule});
  }
}

TEST(Yardsticks, FailForNanAndForAMissingTensor) {
  EXPECT_EQ(flagging(with_errors(nan, nan, nan, nan)).size(), 3U);
  CaseReport none = with_errors(0, 0, 0, 0);
  none.tensors.clear();
  EXPECT_EQ(flagging(none).size(), yardstick_names().size() - 1);
  none.verdict = {Rule::structure, {}};
  EXPECT_EQ(flagging(none), yardstick_names());
}

}  // namespace
}  // namespace assay::mutants
