#include "assay/conformance/sweep/time_left.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "../printed.hpp"
#include "assay/conformance/report/listeners.hpp"

namespace assay::conformance {
namespace {

/// A planned case with its expected cost and its real duration.
struct Simulated {
  ExpectedCost expected;
  double seconds;
};

/// Simulates the cases of a full sweep of about 1,000 s. Refused calls take 30 times the expected
/// time. Relations (comparisons of several runs) take a fifth of the expected time. The other cases
/// are compared bit by bit (exact cases) or with error bounds. The largest ones have the sizes of
/// the largest models.
std::vector<Simulated> full_sweep(double kernel) {
  std::vector<Simulated> cases;
  for (int k = 0; k < 900; ++k) cases.push_back({{"op arguments", 1e-4}, 3e-3});
  for (int k = 0; k < 300; ++k)
    cases.push_back({{"op exact", 0.02 + 1e-4 * k}, kernel * (0.03 + 1e-4 * k)});
  for (int k = 0; k < 100; ++k) cases.push_back({{"op relation", 0.1 + 1e-3 * k}, kernel * 0.03});
  for (int k = 0; k < 600; ++k) {
    const double cost = 0.05 * std::pow(1.01, k);
    cases.push_back({{"op bound", cost}, kernel * cost * (k % 7 == 0 ? 1.5 : 0.7)});
  }
  std::ranges::stable_sort(cases, {}, [](const Simulated& c) { return c.expected.seconds; });
  return cases;
}

std::vector<ExpectedCost> plan_of(const std::vector<Simulated>& cases) {
  std::vector<ExpectedCost> plan;
  for (const Simulated& c : cases) plan.push_back(c.expected);
  return plan;
}

/// Returns the fraction of the total time after which the first estimate appears. From then on
/// every estimate must be within a factor of `times` of the true remaining time. The last two
/// percent of the time are not checked.
double first_estimate(const std::vector<Simulated>& cases, double times) {
  double total = 0, passed = 0, first = -1;
  for (const Simulated& c : cases) total += c.seconds;
  TimeLeft left(plan_of(cases));
  for (std::size_t k = 0; k < cases.size(); ++k) {
    left.took(k, cases[k].seconds);
    passed += cases[k].seconds;
    const auto printed = left.seconds();
    const double expected_value = total - passed;
    if (!printed || expected_value < 0.02 * total) continue;
    if (first < 0) first = passed / total;
    EXPECT_LT(*printed, times * expected_value) << k;
    EXPECT_GT(*printed, expected_value / times) << k;
  }
  return first;
}

TEST(TimeLeft, IsWithinTwiceTheTruthAndKnownEarly) {
  for (const double kernel : {0.1, 1.0, 40.0}) {
    const double first = first_estimate(full_sweep(kernel), 2);
    EXPECT_GE(first, 0) << kernel;
    EXPECT_LT(first, 0.05) << kernel;
  }
}

TEST(TimeLeft, IgnoresAHangAndASlowFirstCall) {
  auto cases = full_sweep(1);
  const auto first = std::ranges::find(
      cases, "op exact", [](const Simulated& c) -> const std::string& { return c.expected.kind; });
  first->seconds = 30;
  cases[1700].seconds = 60;
  EXPECT_LT(first_estimate(cases, 2), 0.15);
}

TEST(TimeLeft, IsPrintedOnlyIfTheRestIsKnown) {
  std::vector<ExpectedCost> plan(6, {"quick", 1e-4});
  plan.resize(8, {"slow", 5});
  TimeLeft left(plan);
  for (std::size_t k = 0; k < 6; ++k) {
    EXPECT_FALSE(left.seconds());
    left.took(k, 0.1);
  }
  EXPECT_FALSE(left.seconds());
  EXPECT_LT(left.share_done(), 0.01);
}

TEST(TimeLeft, IsZeroAfterTheLastCase) {
  TimeLeft left(std::vector<ExpectedCost>(6, {"kind", 2}));
  for (std::size_t k = 0; k < 6; ++k) left.took(k, 1);
  EXPECT_EQ(left.seconds(), 0.0);
  EXPECT_EQ(left.share_done(), 1.0);
}

/// Returns the progress lines of a sweep with a simulated clock. A case ends every
/// `second_of_a_case` seconds. The duration of a case is `own_times` times this interval, as if
/// several cases ran at the same time.
std::vector<std::string> printed(double second_of_a_case, double own_times = 1, double budget = 0) {
  double now = 0;
  std::ostringstream out;
  ConsoleListener console(out, Progress::lines, std::vector<ExpectedCost>(100, {"kind", 1}), budget,
                          [&now] { return now; });
  console.on_start(100, "kernel");
  for (int k = 0; k < 100; ++k) {
    now += second_of_a_case;
    console.on_case({.verdict = testing::decided(Verdict::conforms),
                     .seconds_total = own_times * second_of_a_case},
                    k);
  }
  std::vector<std::string> lines;
  std::istringstream text(out.str());
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

TEST(Console, SaysThatItIsEstimatingUntilItKnows) {
  const auto lines = printed(4);  // one line every 10 s
  ASSERT_GT(lines.size(), 5u);
  EXPECT_EQ(lines[1], "1 of 100 cases, 0 not conforming, estimating the time left");
  EXPECT_EQ(lines[2], "4 of 100 cases, 0 not conforming, estimating the time left");
  EXPECT_EQ(lines[3], "7 of 100 cases, 0 not conforming, about 6 min 12 s left");
  EXPECT_EQ(lines[4], "10 of 100 cases, 0 not conforming, about 6 min 00 s left");
}

TEST(Console, CountsCasesThatOverlapOnce) {
  EXPECT_EQ(printed(4, 1.75), printed(4));
  EXPECT_EQ(printed(4, 0.5), printed(4));
}

TEST(Console, ResumesWithTheEstimatesOfAnEarlierSweep) {
  double now = 0;
  std::ostringstream out;
  ConsoleListener console(out, Progress::lines, std::vector<ExpectedCost>(100, {"kind", 1}), 0,
                          [&now] { return now; });
  console.on_start(100, "kernel");
  for (int k = 0; k < 50; ++k)
    console.on_resumed({.verdict = testing::decided(Verdict::conforms), .seconds_total = 4}, k);
  now = 11;
  console.on_case({.verdict = testing::decided(Verdict::conforms), .seconds_total = 11}, 50);
  const std::string text = out.str();
  EXPECT_NE(text.find("51 of 100 cases, 0 not conforming, about 3 min"), text.npos) << text;
}

TEST(Console, PromisesNoMoreThanTheBudget) {
  const auto lines = printed(11, 1, 30);
  ASSERT_GT(lines.size(), 3u);
  EXPECT_EQ(lines[1], "1 of 100 cases, 0 not conforming, about 19 s of the budget left");
  EXPECT_EQ(lines[2], "2 of 100 cases, 0 not conforming, about 8 s of the budget left");
  EXPECT_EQ(lines[3], "3 of 100 cases, 0 not conforming, about 0 s of the budget left");
}

/// The progress bar is drawn at most ten times a second, and always for the first and the last
/// case.
TEST(Console, ABarIsDrawnToItsEnd) {
  std::ostringstream out;
  ConsoleListener console(out, Progress::bar, std::vector<ExpectedCost>(3, {"kind", 1}), 0,
                          [] { return 0.0; });
  console.on_start(3, "kernel");
  for (int k = 0; k < 3; ++k)
    console.on_case({.verdict = testing::decided(Verdict::conforms), .seconds_total = 1}, k);
  const std::string text = out.str();
  EXPECT_NE(text.find("] 1 of 3 cases"), text.npos) << text;
  EXPECT_EQ(text.find("] 2 of 3 cases"), text.npos) << text;
  EXPECT_NE(text.find("] 3 of 3 cases"), text.npos) << text;
}

TEST(Console, PrintsAFaultOnce) {
  std::ostringstream out;
  ConsoleListener console(out, Progress::lines, {});
  console.on_start(3, "kernel");
  const auto failing = [](const char* tensor) {
    return CaseReport{
        .command_line = "line",
        .verdict = testing::decided(Verdict::nonconformant_proven),
        .findings = {{.rule = FindingRule::bound, .tensor = tensor, .text = "too far off"}}};
  };
  console.on_case(failing("dq"), 0);
  console.on_case(failing("dq"), 1);
  console.on_case(failing("dk"), 2);
  const std::string text = out.str();
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find("too far off", at)) != std::string::npos; ++at) ++count;
  EXPECT_EQ(count, 2u) << text;
}

}  // namespace
}  // namespace assay::conformance
