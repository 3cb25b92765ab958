#include "judge/elements/failure_pattern.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "assay/conformance/report/sentences.hpp"

namespace assay::conformance {
namespace {

constexpr double least_expected = 3;

/// Describes the positions and the deviation of the failing elements as text.
std::string text_of(const FailurePattern& failing) {
  const Pattern pattern = failing.pattern(1000);
  const std::string places = describe(pattern.places), deviation = describe(pattern.deviation);
  return (places.empty() ? "" : ", " + places) + (deviation.empty() ? "" : ", " + deviation);
}

/// Makes a tensor of shape (2, 4, 64, 16) and returns the text of its failure pattern. `fails`
/// selects the failing elements, and `output` computes their output from the expected value.
template <class Fails, class Output>
std::string pattern(Fails&& fails, Output&& output) {
  const spec::Extents extents{.batch = 2, .heads = 4, .seq = 64, .dim = 16};
  FailurePattern failing(extents);
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t n = 0; n < 4; ++n)
      for (std::int64_t s = 0; s < 64; ++s)
        for (std::int64_t d = 0; d < 16; ++d) {
          const double expected = least_expected + static_cast<double>(s + 64 * d);
          if (fails(n, s))
            failing.add({.b = b,
                         .n = n,
                         .s = s,
                         .d = d,
                         .actual = output(expected, s + d),
                         .expected = expected});
        }
  return text_of(failing);
}

constexpr auto all = [](std::int64_t, std::int64_t) { return true; };
constexpr auto last_row = [](std::int64_t, std::int64_t s) { return s == 63; };
constexpr auto one_head_late = [](std::int64_t n, std::int64_t s) { return n == 2 && s >= 48; };

TEST(FailurePattern, NamesPlaceAndFactor) {
  EXPECT_EQ(pattern(last_row, [](double, std::int64_t) { return 0.0; }), ", all at the last s, 0");
  EXPECT_EQ(pattern(one_head_late, [](double x, std::int64_t) { return -x; }),
            ", all at n = 2, s from 48 to the end, about -1 times the expected "
            "value");
  EXPECT_EQ(pattern(all, [](double x, std::int64_t) { return 1.02 * x; }),
            ", about 1.02 times the expected value");
  EXPECT_EQ(pattern(all, [](double, std::int64_t) { return std::nan(""); }), ", NaN");
}

TEST(FailurePattern, PoisonInAnOutputIsNeverWritten) {
  for (const spec::DType dtype : {spec::DType::fp32, spec::DType::fp16, spec::DType::bf16})
    EXPECT_EQ(pattern(all, [&](double, std::int64_t) { return unwritten_number(dtype); }),
              ", never written");
  EXPECT_EQ(pattern(all,
                    [](double, std::int64_t k) {
                      return k % 2 == 0 ? std::nan("") : unwritten_number(spec::DType::bf16);
                    }),
            ", NaN");
}

/// Returns the text for the positions of the failing elements. `fails` selects the failing heads
/// and rows.
std::string place(const std::function<bool(std::int64_t n, std::int64_t s)>& fails) {
  return pattern(fails, [](double x, std::int64_t k) { return x + (k % 2 == 0 ? 1 : -1); });
}

TEST(FailurePattern, FindsSetsStepsAndPeriods) {
  EXPECT_EQ(place([](auto n, auto) { return n == 1 || n == 3; }), ", all at n = 1 and 3");
  EXPECT_EQ(place([](auto n, auto) { return n == 3; }), ", all at the last n");
  EXPECT_EQ(place([](auto, auto s) { return s == 31 || s == 63; }),
            ", all at every 32nd s from 31");
  EXPECT_EQ(place([](auto n, auto) { return n == 0 || n == 3; }), ", all at n = 0 and 3");
  EXPECT_EQ(place([](auto, auto s) { return s == 5 || s == 9 || s == 50; }),
            ", all at s = 5, 9 and 50");
  EXPECT_EQ(place([](auto, auto s) { return s >= 14; }), ", all at s from 14 to the end");
  EXPECT_EQ(place([](auto, auto s) { return s <= 20; }), ", all at s from 0 to 20");
  EXPECT_EQ(place([](auto, auto s) { return s % 16 == 15; }), ", all at every 16th s from 15");
  EXPECT_EQ(place([](auto, auto s) { return s % 16 >= 12; }), ", all at s mod 16 from 12 to 15");
}

TEST(FailurePattern, FindsTheLastRowOfEverySequence) {
  const spec::Extents extents{.batch = 2, .heads = 1, .seq = 9, .dim = 4, .ends = {5, 14}};
  FailurePattern failing(extents);
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t d = 0; d < 4; ++d)
      failing.add({.b = b, .n = 0, .s = b == 0 ? 4 : 8, .d = d, .actual = 0, .expected = 1});
  EXPECT_EQ(text_of(failing), ", all at the last s, 0");
}

TEST(FailurePattern, NamesNoPeriodIfOnlySomeRowsAreJudged) {
  const spec::Extents extents{.batch = 1, .heads = 1, .seq = 64, .dim = 2};
  const auto text = [&](std::int64_t step, bool all_rows) {
    FailurePattern failing(extents, all_rows);
    for (std::int64_t s = 0; s < 64; s += step)
      for (std::int64_t d = 0; d < 2; ++d)
        failing.add({.b = 0, .n = 0, .s = s, .d = d, .actual = 1.0 + double(s % 3), .expected = 1});
    return text_of(failing);
  };
  EXPECT_EQ(text(16, true), ", all at every 16th s from 0");
  EXPECT_EQ(text(16, false), "");
}

TEST(FailurePattern, IsEmptyWithoutAPattern) {
  EXPECT_EQ(pattern(all, [](double x, std::int64_t k) { return x + (k % 2 == 0 ? 1 : -1); }), "");
  // The large elements alone suggest the factor 0.99. The small elements do not fit this factor, so
  // no factor is reported.
  EXPECT_EQ(pattern(all, [](double x, std::int64_t) { return x > 10 ? 0.99 * x : x + 1; }), "");
  const spec::Extents extents{.batch = 1, .heads = 1, .seq = 8, .dim = 8};
  FailurePattern one(extents);
  one.add({.b = 0, .n = 0, .s = 7, .d = 7, .actual = 0, .expected = 1});
  EXPECT_EQ(text_of(one), "");
  EXPECT_EQ(one.count(), 1);
}

}  // namespace
}  // namespace assay::conformance
