#include "judge/elements/likeness.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "assay/conformance/report/sentences.hpp"

namespace assay::conformance {
namespace {

constexpr std::int64_t heads = 3, rows = 8, channels = 6;

/// Returns the expected value of an element. No two elements have the same expected value.
double expected_value(std::int64_t n, std::int64_t s, std::int64_t d) {
  return 1 + static_cast<double>((n * rows + s) * channels + d) * 1.25;
}

Expectation expectation() {
  Expectation e{.name = "dk",
                .extents = {.batch = 1, .heads = heads, .seq = rows, .dim = channels}};
  e.rows.resize(static_cast<std::size_t>(heads * rows));
  e.resize(heads * rows);
  for (std::int64_t r = 0; r < heads * rows; ++r) {
    e.rows[static_cast<std::size_t>(r)] = r;
    for (std::int64_t d = 0; d < channels; ++d) {
      const auto k = static_cast<std::size_t>(r * channels + d);
      e.value[k] = expected_value(r / rows, r % rows, d);
      e.tau[k] = 1e-3;
    }
  }
  return e;
}

/// Returns the text that says what a wrong tensor resembles, for example another row. The tensor
/// has the value `output` at (n, s, d).
std::string likeness_of(
    const std::function<double(std::int64_t, std::int64_t, std::int64_t)>& output) {
  const Expectation e = expectation();
  return describe(likeness(e, [&](std::span<const std::int64_t> numbers) {
    std::vector<double> values;
    for (const std::int64_t r : numbers)
      for (std::int64_t d = 0; d < channels; ++d) values.push_back(output(r / rows, r % rows, d));
    return values;
  }));
}

TEST(Likeness, NamesTheHeadTheRowAndTheChannelWhoseGradientItIs) {
  EXPECT_EQ(
      likeness_of([](auto n, auto s, auto d) { return expected_value(n == 1 ? 0 : n, s, d); }),
      "n = 1 has the expected values of n = 0");
  EXPECT_EQ(
      likeness_of([](auto n, auto s, auto d) { return expected_value(n < 2 ? 1 - n : n, s, d); }),
      "n = 0 has the expected values of n = 1, n = 1 has the expected values of n = 0");
  EXPECT_EQ(
      likeness_of([](auto n, auto s, auto d) { return expected_value(n, s < 7 ? s + 1 : 0, d); }),
      "the expected values of s + 1");
  EXPECT_EQ(
      likeness_of([](auto n, auto s, auto d) { return expected_value(n, s, d > 0 ? d - 1 : 5); }),
      "the expected values of d - 1");
}

TEST(Likeness, IsReportedForTwoRowsButNotForOne) {
  const auto shifted = [](std::int64_t wrong) {
    return likeness_of([wrong](auto n, auto s, auto d) {
      return expected_value(n, n == 1 && s >= 3 && s < 3 + wrong ? s + 1 : s, d);
    });
  };
  EXPECT_EQ(shifted(2), "the expected values of s + 1");
  EXPECT_EQ(shifted(1), "");
}

TEST(Likeness, IsEmptyForUnexpectedValues) {
  EXPECT_EQ(likeness_of(expected_value), "");
  EXPECT_EQ(
      likeness_of([](auto n, auto s, auto d) { return 1.01 * expected_value(n, s, d) + 0.3; }), "");
  EXPECT_EQ(likeness_of([](auto, auto, auto) { return 0.0; }), "");
}

/// Returns the names of quantities of a case, such as the scale, that equal `factor`.
std::vector<std::string> quantities_of(double factor, const std::string& scale = "0.125") {
  CaseReport report;
  report.fields = {{"scale_value", scale}, {"heads_q", "6"}, {"heads_kv", "2"}};
  const Deviation deviation{.kind = DeviationKind::multiple, .factor = factor};
  report.findings.push_back(
      {.rule = FindingRule::bound, .pattern = Pattern{.deviation = deviation}});
  name_factors(report);
  return report.findings[0].pattern->deviation.quantities;
}

TEST(Likeness, NamesAFactorByTheParametersOfTheCase) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(quantities_of(8), Names{"1 / scale_value"});
  EXPECT_EQ(quantities_of(0.1251), Names{"scale_value"});
  EXPECT_EQ(quantities_of(3), Names{"heads_q / heads_kv"});
  EXPECT_EQ(quantities_of(1.0 / 3), Names{"heads_kv / heads_q"});
  EXPECT_EQ(quantities_of(1.4427), Names{"log2(e)"});
  EXPECT_EQ(quantities_of(3, "-3"), Names{"heads_q / heads_kv"});
  EXPECT_EQ(quantities_of(3, "3"), (Names{"scale_value", "heads_q / heads_kv"}));
  EXPECT_EQ(quantities_of(-1, "-1"), (Names{"scale_value", "1 / scale_value"}));
  EXPECT_EQ(quantities_of(5), Names{});
}

TEST(Likeness, QuantitiesAreInTheSentence) {
  CaseReport report;
  report.fields = {{"scale_value", "0.5"}};
  report.findings.push_back(
      {.rule = FindingRule::bound,
       .tensor = "dq",
       .pattern = Pattern{.failing = 3,
                          .judged = 8,
                          .deviation = {.kind = DeviationKind::multiple, .factor = 2}}});
  name_factors(report);
  EXPECT_EQ(sentence_of(report.findings[0], report),
            "3 of 8 judged elements of dq fail, where the output is about 2 times the expected "
            "value: 1 / "
            "scale_value");
}

}  // namespace
}  // namespace assay::conformance
