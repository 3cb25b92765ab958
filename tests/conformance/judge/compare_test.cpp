#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compare_pencil.hpp"
#include "judge/basis.hpp"
#include "judge/relations/comparison.hpp"

namespace assay::conformance {
namespace {

using spec::DType;
using testing::Pencil;

constexpr double infinity = std::numeric_limits<double>::infinity();

using Rules = std::set<std::string>;

/// Every error is two standard deviations, with alternating signs. The errors have no bias, and
/// every element is within tau (its tolerance).
TEST(Compare, LargeDeviationDecidesAlone) {
  Pencil p(40, 4);
  for (std::size_t k = 0; k < p.actual.size(); ++k) p.actual[k] += k % 2 == 0 ? 2 : -2;
  EXPECT_EQ(p.judge(), Verdict::statistical_unconfirmed);
  EXPECT_EQ(p.rules(), Rules{"rms"});
  EXPECT_DOUBLE_EQ(p.report.rms, 2);
  EXPECT_DOUBLE_EQ(p.report.nu, 160);
  // By the formula of the limit, with x = ln 1e9 = 20.7233: 1 + 2 sqrt(x / 160) + 2 x / 160 =
  // 1.978823. Its square root is the limit of R (root mean square of the errors), 1.406706.
  EXPECT_NEAR(p.report.rms_limit, 1.406706, 1e-6);
  EXPECT_NEAR(p.report.bias, 0, 1e-15);
}

/// If an intermediate result may overflow in the declared arithmetic, the tolerance tau is
/// infinite, and the element proves nothing for or against the kernel.
TEST(Compare, InfiniteToleranceDecidesNothing) {
  for (const double written : {infinity, -infinity, std::nan(""), 8.0}) {
    Pencil p(2, 4);
    p.e.tau[3] = p.e.tau_det[3] = infinity;
    p.actual[3] = written;
    EXPECT_EQ(p.judge(), Verdict::inconclusive) << written;
  }
}

/// E29.
TEST(Compare, TheLimitOfTheDeviationIsAtLeastFivePercent) {
  Pencil p(1000, 100);
  for (std::size_t k = 0; k < p.actual.size(); ++k) p.actual[k] += k % 2 == 0 ? 1.04 : -1.04;
  EXPECT_EQ(p.judge(), Verdict::conforms);
  EXPECT_DOUBLE_EQ(p.report.rms_limit, 1.05);
  for (std::size_t k = 0; k < p.actual.size(); ++k) p.actual[k] = k % 2 == 0 ? 9.06 : 6.94;
  EXPECT_EQ(p.judge(), Verdict::statistical_unconfirmed);
}

/// R (root mean square of the errors) and b (their mean) give less weight to two kinds of rows:
/// rows with correlated errors, and rows with few expected values that are larger than their
/// tolerance.
TEST(Compare, OnlyInformativeElementsGiveDegreesOfFreedom) {
  Pencil p(3, 4);
  p.e.share = {1, 0.5, 0.25};
  p.judge();
  EXPECT_DOUBLE_EQ(p.report.nu, 12.0 * 12 / (4 * (4 * 1 + 4 * 0.5 + 4 * 0.25)));
  for (std::size_t d = 1; d < 4; ++d) p.e.value[d] = p.actual[d] = 4;  // the values are at most tau
  p.judge();
  EXPECT_DOUBLE_EQ(p.report.nu, 9.0 * 9 / (4 * (1 * 1 + 4 * 0.5 + 4 * 0.25)));
  p.e.share[1] = 0;  // such a row has only known errors
  p.judge();
  EXPECT_DOUBLE_EQ(p.report.nu, 5.0 * 5 / (4 * (1 * 1 + 4 * 0.25)));
}

/// Makes errors of 0.4 and 0.6 standard deviations that have the sign of the expected value,
/// multiplied by `sign`.
void lean(Pencil& p, double sign) {
  for (std::size_t k = 0; k < p.actual.size(); ++k) {
    const std::size_t row = k / static_cast<std::size_t>(p.e.dim());
    p.e.value[k] = k % 3 == 0 ? -8 : 8;
    p.actual[k] = p.e.value[k] + sign * (row % 2 == 0 ? 0.4 : 0.6) * (k % 3 == 0 ? -1 : 1);
  }
}

TEST(Compare, ABiasAloneDecides) {
  Pencil p(40, 4);
  lean(p, 1);
  EXPECT_EQ(p.judge(), Verdict::statistical_unconfirmed);
  EXPECT_EQ(p.rules(), Rules{"bias"});
  EXPECT_DOUBLE_EQ(p.report.bias, 0.5);
  EXPECT_NEAR(p.report.bias_t, 0.5 / std::sqrt(0.01 / 39), 1e-9);
  lean(p, -1);
  EXPECT_EQ(p.judge(), Verdict::statistical_unconfirmed);
  EXPECT_DOUBLE_EQ(p.report.bias, -0.5);
  EXPECT_LT(p.report.bias_t, 0);
}

/// E29.
TEST(Compare, ABiasNeedsRowsSizeAndSignificance) {
  Pencil few(31, 4);
  lean(few, 1);
  EXPECT_EQ(few.judge(), Verdict::conforms);
  EXPECT_EQ(few.report.bias, 0);

  const auto verdict = [](std::int64_t rows, double first, double second) {
    Pencil p(rows, 1);
    for (std::size_t k = 0; k < p.actual.size(); ++k) p.actual[k] += k % 2 == 0 ? first : second;
    return p.judge();
  };
  EXPECT_EQ(verdict(32, 0.4, 0.6), Verdict::statistical_unconfirmed);
  EXPECT_EQ(verdict(40, 0.078, 0.08), Verdict::conforms);
  EXPECT_EQ(verdict(40, 0.081, 0.083), Verdict::statistical_unconfirmed);
  // The mean errors of the 40 rows are 0.5 + x or 0.5 - x. The mean of these numbers divided by its
  // standard error is t = 0.5 / (x / sqrt 39), which reaches the limit 8 at x = 0.390.
  EXPECT_EQ(verdict(40, 0.5 - 0.395, 0.5 + 0.395), Verdict::conforms);
  EXPECT_EQ(verdict(40, 0.5 - 0.385, 0.5 + 0.385), Verdict::statistical_unconfirmed);
}

TEST(Compare, NeitherAppliesWhereRoundingsHaveAMeanNorABiasWhereRowsShareThem) {
  for (const spec::Numerics& numerics :
       {spec::Numerics{.stage = DType::bf16, .round_stage = spec::Rounding::rtz, .fused = false},
        spec::Numerics{.accumulator = spec::Accumulator::fp32_truncating, .fused = false}}) {
    Pencil p(40, 4, DType::fp32, numerics);
    std::ranges::fill(p.actual, 11);
    EXPECT_EQ(p.judge(), Verdict::conforms);
    EXPECT_EQ(p.report.rms, 0);
  }
  Pencil shared(40, 4, DType::fp32, {.fused = true});
  lean(shared, 1);
  EXPECT_EQ(shared.judge(), Verdict::conforms);
  EXPECT_GT(shared.report.rms, 0);
  Pencil alike(40, 4);
  lean(alike, 1);
  alike.e.biasable = false;
  EXPECT_EQ(alike.judge(), Verdict::conforms);
}

/// If an expected value is at most tau (its tolerance), it may consist only of the rounding errors
/// of the statistics in the inputs. A kernel that computes its own statistics does not have these
/// errors. So such elements do not count for the bias and for R (root mean square of the errors).
TEST(Compare, ValuesWithinTauOfZeroHaveNoBiasAndNoDeviation) {
  Pencil p(40, 4);
  lean(p, 1);
  for (std::size_t k = 0; k < p.actual.size(); ++k)
    p.e.value[k] = (k % 2 == 0 ? 0.5 : 0.4), p.actual[k] = 0, p.e.sigma[k] = 0.3;
  EXPECT_EQ(p.judge(), Verdict::conforms);
  EXPECT_EQ(p.report.rms, 0);
  for (double& tau : p.e.tau) tau = 0.39;
  EXPECT_EQ(p.judge(), Verdict::statistical_unconfirmed);
}

/// If all probabilities are equal, all rows of dv are equal, and the same number is cast 2,000
/// times. These casts count as one.
TEST(Compare, CastsOfRowsThatAreAlikeCountAsOne) {
  Pencil p(500, 4, DType::bf16, {.fused = false});
  p.e.biasable = false;
  const double value = 1 + 0x1p-8 * 0.9;  // 0.9 of half a unit above 1
  for (std::size_t k = 0; k < p.actual.size(); ++k) {
    p.e.value[k] = value, p.actual[k] = 1;
    p.e.tau[k] = 0x1p-8, p.e.sigma[k] = 0x1p-8 / std::sqrt(3.0);
  }
  EXPECT_EQ(p.judge(), Verdict::conforms);
  EXPECT_NEAR(p.report.rms, 0.9 * std::sqrt(3.0), 1e-12);
  EXPECT_NEAR(p.report.rms_limit, 1.106486 * 0.9 * std::sqrt(3.0), 1e-5);
  // If the casts are known to have small errors, the casts do not explain a larger error.
  for (double& x : p.e.value) x = 1;
  for (std::size_t k = 0; k < p.actual.size(); ++k)
    p.actual[k] = 1 + (k % 2 == 0 ? 0x1p-8 : -0x1p-8);
  EXPECT_EQ(p.judge(), Verdict::statistical_unconfirmed);
  EXPECT_EQ(p.rules(), Rules{"rms"});
}

/// Rows with values that differ by less than an ulp of the output type have the same rounding
/// error. The number of such rows does not matter.
TEST(Compare, KnownCastsAreNotABias) {
  Pencil p(500, 4, DType::bf16, {.fused = false});
  for (std::size_t k = 0; k < p.actual.size(); ++k) {
    p.e.value[k] = 1 + 0x1p-8 * (k / 4 % 2 == 0 ? 0.5 : 0.4), p.actual[k] = 1;
    p.e.tau[k] = 0x1p-8, p.e.sigma[k] = 0x1p-8 / std::sqrt(3.0);
  }
  EXPECT_EQ(p.judge(), Verdict::conforms);
  EXPECT_EQ(p.report.bias, 0);
  for (std::size_t k = 0; k < p.actual.size(); k += 8)
    p.actual[k] = 1 - 0x1p-7;  // the next number below
  EXPECT_EQ(p.judge(), Verdict::statistical_unconfirmed);
  EXPECT_NEAR(p.report.bias, -2 * std::sqrt(3.0) / 8, 1e-12);
}

/// Equal rows, as in the tests above, with a drift (a known rounding error inside the kernel). The
/// judge casts the value plus the drift.
TEST(Compare, TheCastThatIsKnownIsThatOfTheDriftedValue) {
  Pencil p(500, 4, DType::bf16, {.fused = false});
  p.e.biasable = false;
  for (std::size_t k = 0; k < p.actual.size(); ++k) {
    p.e.value[k] = p.actual[k] = 1, p.e.drift[k] = 0x1p-8 * 0.9;
    p.e.tau[k] = 0x1p-8, p.e.sigma[k] = 0x1p-8 / std::sqrt(3.0);
  }
  EXPECT_EQ(p.judge(), Verdict::conforms);
  EXPECT_NEAR(p.report.rms_limit, 1.106486 * 0.9 * std::sqrt(3.0), 1e-5);
}

/// Near the smallest fp16 numbers the cast errors are too large for the statistic R (root mean
/// square of the errors). If the kernel rounds ties away from zero, the casts themselves cause a
/// bias.
TEST(Compare, CastsOfKnownSignHaveNoBiasAndOfFewUnitsNoDeviation) {
  const auto judged = [](double value, spec::Rounding cast) {
    Pencil p(40, 4, DType::fp16, {.round_out = cast, .fused = false});
    for (std::size_t k = 0; k < p.actual.size(); ++k) {
      const double error = k / 4 % 2 == 0 ? 0x1p-3 : 0x1p-4;
      p.e.value[k] = value, p.actual[k] = value * (1 + error);
      p.e.sigma[k] = value / 4, p.e.tau[k] = value / 2;
    }
    p.judge();
    return std::pair(p.report.rms > 0, p.report.bias != 0);
  };
  using enum spec::Rounding;
  EXPECT_EQ(judged(8 * 0x1p-24, rne), std::pair(false, false));
  EXPECT_EQ(judged(32 * 0x1p-24, rne), std::pair(true, false));
  EXPECT_EQ(judged(1, rne), std::pair(true, true));
  EXPECT_EQ(judged(1 + 0x1p-11, rne), std::pair(true, true));
  EXPECT_EQ(judged(1 + 0x1p-11, rna), std::pair(true, false));
}

TEST(Compare, KnownStagingErrorIsNotADeviation) {
  Pencil p(40, 4);
  for (std::size_t k = 0; k < p.actual.size(); ++k) p.e.drift[k] = 3, p.actual[k] = 11;
  EXPECT_EQ(p.judge(), Verdict::conforms);
  EXPECT_EQ(p.report.rms, 0);
  std::ranges::fill(p.e.drift, -3);
  EXPECT_EQ(p.judge(), Verdict::statistical_unconfirmed);
  EXPECT_DOUBLE_EQ(p.report.rms, 6);
}

/// E27.
TEST(Compare, AnElementBeyondItsTauIsStatisticalAndBeyondTheRigorousOneAProof) {
  const auto judged = [](double error, double radius) {
    Pencil p(2, 3);
    p.e.radius[4] = radius;
    p.e.sigma[4] = 100;
    p.actual[4] += error;
    const Verdict verdict = p.judge();
    return std::pair(verdict, p.rules());
  };
  const auto none = Rules{}, bound = Rules{"bound"};
  for (const double sign : {1.0, -1.0}) {
    EXPECT_EQ(judged(sign * 4, 0), std::pair(Verdict::conforms, none));
    EXPECT_EQ(judged(sign * 4.001, 0.002), std::pair(Verdict::conforms, none));
    EXPECT_EQ(judged(sign * 4.001, 0), std::pair(Verdict::statistical_unconfirmed, bound));
    EXPECT_EQ(judged(sign * 6, 0), std::pair(Verdict::statistical_unconfirmed, bound));
    EXPECT_EQ(judged(sign * 6.001, 0.002), std::pair(Verdict::statistical_unconfirmed, bound));
    EXPECT_EQ(judged(sign * 6.001, 0), std::pair(Verdict::nonconformant_proven, bound));
  }
}

TEST(Compare, WorstElementDecidesWhateverFollows) {
  Pencil p(40, 4);
  for (std::size_t k = 0; k < p.actual.size(); ++k) p.actual[k] += k % 2 == 0 ? 3 : -3;
  p.actual[5] = p.e.value[5] + 7;
  p.actual[9] = p.e.value[9] + 5;
  EXPECT_EQ(p.judge(), Verdict::nonconformant_proven);
  EXPECT_EQ(p.rules(), (Rules{"bound", "rms"}));
  p.actual[2] = std::nan("");
  EXPECT_EQ(p.judge(), Verdict::nonconformant_structural);
}

TEST(Compare, RowsWhoseStagingMayOverflowAreNotJudged) {
  Pencil p(40, 4);
  lean(p, 0);
  for (std::size_t d = 0; d < 4; ++d) p.actual[4 + d] = d % 2 == 0 ? std::nan("") : 1e6;
  EXPECT_EQ(p.judge(), Verdict::nonconformant_structural);
  p.e.exempt[1] = 1;
  EXPECT_EQ(p.judge(), Verdict::conforms);
  EXPECT_EQ(p.report.exempt, 4);
  EXPECT_EQ(p.report.elements_judged, 156);
  EXPECT_DOUBLE_EQ(p.report.nu, 156);
}

TEST(Compare, AReferenceOfUnknownSizeIsInconclusiveUnlessSomethingFails) {
  Pencil p(40, 4);
  p.e.radius[7] = 4 * 0x1p-10;
  EXPECT_EQ(p.judge(), Verdict::conforms);
  p.e.radius[7] = 4.01 * 0x1p-10;
  EXPECT_EQ(p.judge(), Verdict::inconclusive);
  p.e.floor[7] = p.e.tau[7];  // only residues
  EXPECT_EQ(p.judge(), Verdict::conforms);
  p.e.floor[7] = 0;
  p.actual[9] += 5;
  EXPECT_EQ(p.judge(), Verdict::statistical_unconfirmed);
  p.actual[9] -= 5;
  p.e.radius[7] = infinity;
  p.actual[7] = std::nan("");
  EXPECT_EQ(p.judge(), Verdict::inconclusive);
}

/// fp16 rounds numbers from 65,520 on to infinity.
TEST(Compare, InfinityIsExpectedOnlyIfTheCastOverflows) {
  const auto judged = [](double reference, double actual, spec::Overflow overflow,
                         spec::Rounding cast = spec::Rounding::rne) {
    Pencil p(1, 1, DType::fp16, {.round_out = cast, .overflow = overflow, .fused = false});
    p.e.value[0] = reference, p.actual[0] = actual;
    p.e.tau[0] = p.e.tau_det[0] = 32;
    p.e.sigma[0] = 0;
    return p.judge();
  };
  using enum spec::Overflow;
  constexpr auto right = Verdict::conforms, wrong = Verdict::nonconformant_structural;
  for (const double sign : {1.0, -1.0}) {
    EXPECT_EQ(judged(sign * 65480, sign * infinity, inf), wrong);  // plus tau: below 65,520
    EXPECT_EQ(judged(sign * 65490, sign * infinity, inf), right);
    EXPECT_EQ(judged(sign * 65490, sign * 65504, inf), right);
    EXPECT_EQ(judged(sign * 65490, -sign * infinity, inf), wrong);
    EXPECT_EQ(judged(sign * 70000, sign * infinity, inf), right);
    EXPECT_EQ(judged(sign * 70000, sign * 65504, inf), wrong);
    EXPECT_EQ(judged(sign * 70000, sign * 65504, saturate), right);
    EXPECT_EQ(judged(sign * 70000, sign * infinity, saturate), wrong);
    EXPECT_EQ(judged(sign * 70000, sign * 65504, either), right);
    EXPECT_EQ(judged(sign * 70000, sign * infinity, either), right);
    EXPECT_EQ(judged(sign * 70000, -sign * 65504, either), wrong);
    EXPECT_EQ(judged(sign * 70000, sign * 65472, either), wrong);
    EXPECT_EQ(judged(sign * 70000, sign * 65504, inf, spec::Rounding::rtz), right);
    EXPECT_EQ(judged(sign * 70000, sign * infinity, inf, spec::Rounding::rtz), wrong);
    EXPECT_EQ(judged(sign * 65552, sign * infinity, inf), right);
    EXPECT_EQ(judged(sign * 65552, sign * 65504, inf), wrong);  // the value minus tau is 65,520
    EXPECT_EQ(judged(sign * 65551, sign * 65520, inf), right);
  }
  EXPECT_EQ(judged(std::nan(""), std::nan(""), inf), right);
  EXPECT_EQ(judged(1, std::nan(""), inf), wrong);
}

TEST(Compare, ReportsTheWorstElementAndItsToleranceTerms) {
  Pencil p(2, 2);
  p.e.core = {1, 1, 1, 1}, p.e.accumulation = {1, 1, 2, 1}, p.e.extra = {0.5, 0.5, 0.25, 0.5};
  p.e.tau = {4, 4, 8, 4};
  p.e.radius[2] = 0.0005;
  p.actual = {9, 8, 14, 7};
  p.judge();
  EXPECT_NEAR(p.report.worst, 6 / 8.0005, 1e-12);
  EXPECT_EQ(p.report.worst_at.s, 1);
  EXPECT_EQ(p.report.worst_at.d, 0);
  EXPECT_DOUBLE_EQ(p.report.worst_at.tolerance, 8.0005);
  const std::vector<std::pair<std::string, double>> terms = {{"staging and probabilities", 0.125},
                                                             {"accumulation", 0.25},
                                                             {"operands, partials, floor", 0.03125},
                                                             {"final cast", 0.59375}};
  ASSERT_EQ(p.report.terms.size(), terms.size());
  for (std::size_t k = 0; k < terms.size(); ++k) {
    EXPECT_EQ(p.report.terms[k].first, terms[k].first);
    EXPECT_NEAR(p.report.terms[k].second, terms[k].second, 1e-9);
  }
  EXPECT_DOUBLE_EQ(p.report.median_tau_over_ref, 0.5);
  EXPECT_DOUBLE_EQ(p.report.histogram[0], 0.25);
  EXPECT_DOUBLE_EQ(p.report.histogram[2], 0.5);
  EXPECT_DOUBLE_EQ(p.report.histogram[7], 0.25);
}

/// E44.
TEST(Judging, TheGraverOfTwoVerdictsStays) {
  const Verdict rising[] = {Verdict::conforms,
                            Verdict::conforms_weak,
                            Verdict::inconclusive,
                            Verdict::statistical_unconfirmed,
                            Verdict::nonconformant_proven,
                            Verdict::nonconformant_structural};
  for (std::size_t a = 0; a < std::size(rising); ++a)
    for (std::size_t b = 0; b < std::size(rising); ++b)
      EXPECT_EQ(graver(some_decision(rising[a], "a"), some_decision(rising[b], "b")).evidence,
                a < b ? "b" : "a")
          << a << ' ' << b;
}

/// E28.
TEST(Judging, ACaseIsInconclusiveFromMoreThanOneExemptElementInAHundredOn) {
  CaseReport report;
  report.tensors = {{.elements_judged = 90, .exempt = 1}, {.elements_judged = 9, .exempt = 0}};
  EXPECT_EQ(exemption_decision(report), Verdict::conforms);
  EXPECT_TRUE(report.findings.empty());
  report.tensors[1].exempt = 1;
  EXPECT_EQ(exemption_decision(report), Verdict::inconclusive);
  EXPECT_EQ(report.findings.size(), 1u);
}

/// E43.
TEST(Judging, RunsOfARelationMayDifferByTheirTolerancesAndProofsStayProofs) {
  const std::vector<double> tau = {1, 1, infinity}, tau_det = {2, 2, infinity};
  const auto compared = [&](std::vector<double> actual, bool bits = false) {
    const std::vector<double> predicted(3, 8);
    const Compared numbers{.tensor = "dk",
                           .actual = actual,
                           .predicted = predicted,
                           .tau = bits ? std::span<const double>() : tau,
                           .tau_det = bits ? std::span<const double>() : tau_det,
                           .extents = {.batch = 1, .heads = 1, .seq = 1, .dim = 3}};
    CaseReport report;
    const Verdict verdict = compare_numbers(numbers, "they agree", report);
    EXPECT_EQ(report.findings.empty(), verdict == Verdict::conforms);
    return verdict;
  };
  EXPECT_EQ(compared({9, 7, 100}), Verdict::conforms);
  EXPECT_EQ(compared({9.01, 8, 8}), Verdict::statistical_unconfirmed);
  EXPECT_EQ(compared({8, 6, 8}), Verdict::statistical_unconfirmed);
  EXPECT_EQ(compared({8, 5.99, 8}), Verdict::nonconformant_proven);
  EXPECT_EQ(compared({5.99, 6.5, 8}), Verdict::nonconformant_proven);
  EXPECT_EQ(compared({8, 8, 8}, true), Verdict::conforms);
  EXPECT_EQ(compared({8, 8.001, 8}, true), Verdict::nonconformant_proven);

  Pencil p(2, 2);
  p.e.radius = {0.5, 0.25, 0, 0};
  p.e.exempt[1] = 1;
  EXPECT_EQ(with_radius({1, 2, 3, 4}, p.e), (std::vector<double>{1.5, 2.25, infinity, infinity}));
}

/// In exact cases the judge accepts the bits of the cast, zeros of either sign, and, where zero is
/// expected, small numbers up to the declared limit (floor).
TEST(Judging, ExactElementsHaveTheirBitsAndZerosTheirFloor) {
  const auto judged = [](std::vector<double> values, spec::Rounding cast, double floor) {
    spec::Tensor output = spec::contiguous_tensor(DType::bf16, {1, 3});
    for (std::size_t k = 0; k < 3; ++k) output.store(static_cast<std::int64_t>(k), values[k]);
    const std::vector<Dyadic> exact = {{257, -8}, {0, 0}, {-3, 0}};  // 1 + 2^-8 is a tie
    const std::vector<std::int64_t> rows = {0};
    CaseReport report;
    judge_exact({{.tensor = {"dq", exact, rows, 3},
                  .output = &output,
                  .extents = {.batch = 1, .heads = 1, .seq = 1, .dim = 3},
                  .element = [](const spec::RowPosition&, std::int64_t d) { return d; },
                  .floor = [floor](const spec::RowPosition&, std::int64_t) { return floor; }}},
                {.round_out = cast}, report);
    return report.verdict;
  };
  using enum spec::Rounding;
  constexpr double up = 1 + 0x1p-7;
  EXPECT_EQ(judged({1, 0, -3}, rne, 0), Verdict::conforms);
  EXPECT_EQ(judged({up, 0, -3}, rne, 0), Verdict::nonconformant_structural);
  EXPECT_EQ(judged({up, -0.0, -3}, rna, 0), Verdict::conforms);
  EXPECT_EQ(judged({1, 0, -3}, rna, 0), Verdict::nonconformant_structural);
  EXPECT_EQ(judged({1, 0, -3}, unknown, 0), Verdict::conforms);
  EXPECT_EQ(judged({up, 0, -3}, unknown, 0), Verdict::conforms);
  EXPECT_EQ(judged({1, 0, 3}, rne, 8), Verdict::nonconformant_structural);
  EXPECT_EQ(judged({1, 0x1p-20, -3}, rne, 0x1p-20), Verdict::conforms);
  EXPECT_EQ(judged({1, 0x1.02p-20, -3}, rne, 0x1p-20), Verdict::nonconformant_structural);
  EXPECT_EQ(judged({1, 0x1p-100, -3}, rne, 0), Verdict::nonconformant_structural);
}

TEST(Judging, ExactResiduesAreMeasuredByTheirFloorAndNothingIsVacuous) {
  spec::Tensor output = spec::contiguous_tensor(DType::bf16, {1, 1});
  output.store(0, 0x1p-21);
  const std::vector<Dyadic> exact = {{0, 0}};
  const std::vector<std::int64_t> rows = {0};
  const auto judged = [&](std::span<const std::int64_t> judged_rows) {
    CaseReport report;
    judge_exact({{.tensor = {"dq", exact, judged_rows, 1},
                  .output = &output,
                  .extents = {.batch = 1, .heads = 1, .seq = 1, .dim = 1},
                  .element = [](const spec::RowPosition&, std::int64_t d) { return d; },
                  .floor = [](const spec::RowPosition&, std::int64_t) { return 0x1p-20; }}},
                {}, report);
    return std::pair(report.verdict.value(), report.tensors[0].worst);
  };
  EXPECT_EQ(judged(rows), std::pair(Verdict::conforms, 0.5));
  EXPECT_EQ(judged({}), std::pair(Verdict::vacuous, 0.0));
}

}  // namespace
}  // namespace assay::conformance
