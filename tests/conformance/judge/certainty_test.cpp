#include "judge/certainty.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "assay/conformance/judge/exact.hpp"

namespace assay::conformance {
namespace {

using spec::DType;
using spec::Rounding;

/// Computed by hand: bf16 has 8 significant bits, so consecutive numbers differ by 2^-7 above 1 and
/// by 2^-8 below 1. The result of the cast changes half-way between two consecutive numbers.
TEST(Certainty, ACastChangesHalfWayBetweenNeighbours) {
  const CastSteps steps(DType::bf16, Rounding::rne);
  EXPECT_EQ(steps.offset(1 + 0x1p-8), 0);
  EXPECT_EQ(steps.offset(1 + 0x1p-8 + 0x1p-40), 0x1p-40);
  EXPECT_EQ(steps.offset(-(1 + 0x1p-8 + 0x1p-40)), -0x1p-40);
  EXPECT_EQ(steps.offset(1.5), -0x1p-8);
  EXPECT_EQ(steps.offset(1), 0x1p-9);    // 1 - 2^-9 is half way to the neighbour below
  EXPECT_EQ(steps.offset(0x1p-134), 0);  // half the smallest subnormal
  EXPECT_EQ(steps.offset(0), -0x1p-134);
  EXPECT_TRUE(steps.decides(1.5, 0x1p-9));
  EXPECT_FALSE(steps.decides(1.5, 0x1p-8));
  EXPECT_TRUE(steps.decides(1 + 0x1p-8, 0));  // an exact tie goes to even
  EXPECT_FALSE(steps.decides(1 + 0x1p-8, 0x1p-60));
}

TEST(Certainty, TruncationChangesAtTheNeighbours) {
  const CastSteps steps(DType::fp16, Rounding::rtz);  // 11 bits
  EXPECT_EQ(steps.offset(1 + 0x1p-10), 0);
  EXPECT_EQ(steps.offset(1 + 0x1p-10 + 0x1p-30), 0x1p-30);
  EXPECT_EQ(steps.offset(1 + 0x1p-10 - 0x1p-30), -0x1p-30);
  EXPECT_EQ(steps.offset(0), -0x1p-24);  // from both sides of zero to zero
  EXPECT_FALSE(steps.decides(0, 0x1p-24));
  EXPECT_TRUE(steps.decides(0, 0x1p-25));
}

TEST(Certainty, StochasticCastsNeedNoDefinition) {
  EXPECT_TRUE(CastSteps(DType::fp16, Rounding::stochastic).decides(1 + 0x1p-11, 0x1p-11));
}

/// Compares the decision "the cast is certain" with the cast itself. If the cast of a value is
/// certain, value - radius and value + radius have the same cast. offset() is the distance from the
/// value to the nearest number with another cast.
TEST(Certainty, DecidedValuesHaveOneCast) {
  std::mt19937_64 random(20);
  std::uniform_real_distribution<double> mantissa(1, 2);
  std::uniform_int_distribution<int> exponent(-160, 14), smaller(1, 30);
  std::int64_t decided = 0, undecided = 0;
  for (const DType type : {DType::bf16, DType::fp16, DType::fp32})
    for (const Rounding rounding : {Rounding::rne, Rounding::rna, Rounding::rtz}) {
      const CastSteps steps(type, rounding);
      const auto cast = [&](double x) {
        const auto bits = round_dyadic(dyadic_of(x), type, rounding, spec::Overflow::inf);
        return spec::from_bits(bits, spec::format_of(type));
      };
      for (int k = 0; k < 4000; ++k) {
        const double value = std::ldexp(mantissa(random), exponent(random) / (k % 8 + 1));
        const double radius = std::ldexp(value, -smaller(random));
        if (steps.decides(value, radius)) {
          ++decided;
          EXPECT_EQ(cast(value - radius), cast(value + radius)) << value << ' ' << radius;
        } else {
          ++undecided;
        }
        const double offset = steps.offset(value);
        if (std::abs(offset) < 0x1p-40 * value) continue;  // below the precision of double
        EXPECT_NE(cast(value - 1.0001 * offset), cast(value - 0.9999 * offset))
            << value << ' ' << offset;
      }
    }
  EXPECT_GT(decided, 5000);
  EXPECT_GT(undecided, 5000);
}

/// A replacement for the high-precision evaluation. It returns the same value for every element,
/// and counts its calls.
class Constant : public Definition {
 public:
  Constant(reference::SeventyFive value, std::size_t dim, std::int64_t* asked)
      : row_(dim, value), asked_(asked) {}
  DefinedRows row(const std::string& tensor, std::int64_t) override {
    ++*asked_;
    return {{tensor, defined_row(row_)}};
  }
  std::int64_t products(const std::string&) const override { return 100; }

 private:
  std::vector<reference::SeventyFive> row_;
  std::int64_t* asked_;
};

/// Three rows of two bf16 elements. The value is 8 with the error radius 2^-30, and tau (the
/// tolerance) is 1/4.
struct Rows {
  Rows() {
    e.name = "dk";
    e.extents = {.batch = 1, .heads = 1, .seq = 3, .dim = 2};
    e.rows = {0, 1, 2};
    e.resize(3);
    for (std::size_t k = 0; k < 6; ++k) e.value[k] = 8, e.radius[k] = 0x1p-30, e.tau[k] = 0.25;
  }
  std::shared_ptr<Certifier> certifier(reference::SeventyFive value, std::int64_t affordable) {
    auto made = std::make_shared<Certifier>(std::make_unique<Constant>(value, 2, &asked));
    made->allow(affordable);
    return made;
  }

  Arithmetic arithmetic{{}, DType::bf16};
  Expectation e;
  std::int64_t asked = 0;
};

TEST(Certainty, DoubleIsUsedWithinItsRadius) {
  Rows rows;
  Certifier::certify(rows.certifier(8, 1000), rows.arithmetic, rows.e);
  EXPECT_EQ(rows.e.certainty.by_radius, 6);
  EXPECT_EQ(rows.e.certainty.elements(), 6);
  EXPECT_EQ(rows.e.certainty.largest_radius, 0x1p-28);
  EXPECT_EQ(rows.asked, 0);
}

/// E30.
TEST(Certainty, RowsWithWideRadiiUseTheDefinitionWithinTheBudget) {
  Rows rows;
  rows.e.radius[1] = rows.e.radius[2] = 0x1p-20;  // rows 0 and 1
  const auto certifier = rows.certifier(reference::SeventyFive(8) + 0x1p-21, 150);
  Certifier::certify(certifier, rows.arithmetic, rows.e);
  EXPECT_EQ(rows.asked, 1);
  EXPECT_EQ(rows.e.value[1], 8 + 0x1p-21);
  EXPECT_EQ(rows.e.radius[1], 0x1p-52 * (8 + 0x1p-21));
  EXPECT_EQ(rows.e.value[2], 8);
  EXPECT_EQ(rows.e.certainty.by_radius, 4);
  EXPECT_EQ(rows.e.certainty.by_definition, 1);
  EXPECT_EQ(rows.e.certainty.open, 1);
  EXPECT_DOUBLE_EQ(rows.e.certainty.share(), 5.0 / 6);
  // The high-precision evaluation of a row is done only once. Judging with another declared
  // arithmetic uses the stored result.
  Rows again;
  again.e.radius[0] = 0x1p-20;
  Certifier::certify(certifier, again.arithmetic, again.e);
  EXPECT_EQ(rows.asked, 1);
  EXPECT_EQ(again.e.value[0], 8 + 0x1p-21);
}

TEST(Certainty, WideRadiusEnclosesWithoutTheDefinition) {
  Rows rows;
  rows.e.tau.assign(6, 0x1p30);
  rows.e.radius[0] = 0x1p-4;  // as wide as a bf16 unit at 8
  rows.e.radius[2] = 0x1p-7;  // near no tie
  Certifier::certify(nullptr, rows.arithmetic, rows.e);
  EXPECT_EQ(rows.e.certainty.enclosed, 1);
  EXPECT_EQ(rows.e.certainty.by_radius, 5);
  EXPECT_DOUBLE_EQ(rows.e.certainty.share(), 5.0 / 6);
  Certifier::certify(rows.certifier(8, 1'000'000), rows.arithmetic, rows.e);
  EXPECT_EQ(rows.asked, 1);
  EXPECT_EQ(rows.e.certainty.by_definition, 1);
  EXPECT_EQ(rows.e.certainty.share(), 1);
}

/// A budget limits the time of high-precision evaluations. Rows with a wide error radius need them
/// most. The decision of casts must leave enough of the budget for such rows.
TEST(Certainty, RowsWithWideRadiiGoBeforeThoseOfCasts) {
  Rows rows;
  rows.e.tau.assign(6, 0x1p30);
  rows.e.radius[0] = 0x1p-4;
  const auto certifier = rows.certifier(8, 300'000);
  Certifier::certify(certifier, rows.arithmetic, rows.e);
  EXPECT_EQ(rows.asked, 0);
  EXPECT_EQ(rows.e.certainty.enclosed, 1);
  Rows later;
  later.e.radius[0] = HUGE_VAL;
  Certifier::certify(certifier, later.arithmetic, later.e);
  EXPECT_EQ(rows.asked, 1);
  EXPECT_EQ(later.e.certainty.by_definition, 1);
}

/// Near 0 the floating-point numbers are densest, so several numbers may lie within the error
/// radius. Only an evaluation with many digits can decide the cast.
TEST(Certainty, CancelledValueIsCastToZero) {
  for (const bool is_decided : {true, false}) {
    Rows rows;
    rows.e.value[0] = 0, rows.e.radius[0] = is_decided ? 0x1p30 : 0x1p70;
    rows.e.tau[0] = 0x1p100;
    Certifier::certify(rows.certifier(0, 1'000'000), rows.arithmetic, rows.e);
    EXPECT_EQ(rows.asked, 1);
    EXPECT_EQ(rows.e.certainty.by_definition, is_decided ? 1 : 0);
    EXPECT_EQ(rows.e.certainty.enclosed, is_decided ? 0 : 1);
    EXPECT_EQ(rows.e.value[0], 0);
  }
}

TEST(Certainty, WithoutADefinitionWideRadiiStayOpen) {
  Rows rows;
  rows.e.radius[3] = rows.e.tau[3] = HUGE_VAL;
  Certifier::certify(nullptr, rows.arithmetic, rows.e);
  EXPECT_EQ(rows.e.certainty.by_radius, 5);
  EXPECT_EQ(rows.e.certainty.open, 1);
}

TEST(Certainty, ExemptElementsAreNotCounted) {
  Rows rows;
  rows.e.exempt[1] = 1;
  Certifier::certify(nullptr, rows.arithmetic, rows.e);
  EXPECT_EQ(rows.e.certainty.elements(), 4);
}

/// A replacement for the high-precision evaluation. It returns two given values for every element:
/// one for the evaluation in double-double, one for the evaluation in 75 digits.
class TwoAnswers : public Definition {
 public:
  TwoAnswers(reference::DoubleDouble quick, reference::SeventyFive slow, std::int64_t* asked)
      : quick_(quick), slow_(slow), asked_(asked) {}
  DefinedRows row(const std::string& tensor, std::int64_t) override {
    ++*asked_;
    return {{tensor, defined_row(std::vector<reference::SeventyFive>(2, slow_))}};
  }
  DefinedRows quick_row(const std::string& tensor, std::int64_t) override {
    const auto row = defined_row(std::vector<reference::DoubleDouble>(2, quick_));
    return row ? DefinedRows{{tensor, *row}} : DefinedRows{};
  }
  std::int64_t products(const std::string&) const override { return 100; }

 private:
  reference::DoubleDouble quick_;
  reference::SeventyFive slow_;
  std::int64_t* asked_;
};

/// 8 + 2^-5 is half-way between two bf16 numbers that are 2^-4 apart. In double-double the error
/// radius is slightly more than 2^-47 of this distance.
TEST(Certainty, DoubleDoubleDecidesWithinItsRadius) {
  const double tie = 8 + 0x1p-5;
  const auto certified = [&](reference::DoubleDouble quick, double radius, std::int64_t& asked) {
    Rows rows;
    rows.e.tau.assign(6, 0x1p30);
    rows.e.value[2] = tie, rows.e.radius[2] = radius;
    auto certifier = std::make_shared<Certifier>(std::make_unique<TwoAnswers>(
        quick, reference::SeventyFive(tie) + reference::SeventyFive(0x1p-120), &asked));
    certifier->allow(1'000'000);
    Certifier::certify(certifier, rows.arithmetic, rows.e);
    return rows.e;
  };
  std::int64_t asked = 0;
  const Expectation settled = certified({tie, 0x1.1p-51}, 0x1p-4, asked);
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(settled.certainty.by_double_double, 1);
  EXPECT_EQ(settled.certainty.by_definition, 0);
  EXPECT_EQ(settled.certainty.share(), 1);
  EXPECT_EQ(settled.value[2], std::nextafter(tie, 9));
  EXPECT_GE(settled.radius[2], 0x1p-51);
  // The distance to the half-way point equals the error radius, so only the evaluation in 75 digits
  // decides the cast.
  const Expectation asked_again = certified({tie, 0x1p-51}, 0x1p-4, asked);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(asked_again.certainty.by_double_double, 0);
  EXPECT_EQ(asked_again.certainty.by_definition, 1);
  // The formulas are evaluated in 75 digits if double-double is not accurate enough, or if the
  // evaluation in double returns no finite value.
  certified({HUGE_VAL, 0}, 0x1p-4, asked);
  EXPECT_EQ(asked, 2);
  certified({1, 0}, HUGE_VAL, asked);
  EXPECT_EQ(asked, 3);
}

TEST(Certainty, InsufficientDoubleDoubleUsesMoreDigits) {
  Rows rows;
  rows.e.radius[2] = 0x1p30;  // tau is 1/4, and 2^-47 of the radius is 2^-17, beyond 2^-20 tau
  auto certifier = std::make_shared<Certifier>(
      std::make_unique<TwoAnswers>(reference::DoubleDouble(8), 8, &rows.asked));
  certifier->allow(1'000'000);
  Certifier::certify(certifier, rows.arithmetic, rows.e);
  EXPECT_EQ(rows.asked, 1);
  EXPECT_EQ(rows.e.certainty.by_definition, 1);
}

TEST(Certainty, AgreementIsCheckedInDoubleDouble) {
  Rows rows;
  const auto agree = [&](reference::DoubleDouble quick) {
    Certifier(std::make_unique<TwoAnswers>(quick, 8, &rows.asked)).require_agreement({rows.e}, 100);
  };
  agree(reference::DoubleDouble(8 + 0x1p-30));
  EXPECT_THROW(agree(reference::DoubleDouble(8 + 0x1p-29)), std::logic_error);
  EXPECT_EQ(rows.asked, 0);
  agree(reference::DoubleDouble(HUGE_VAL));
  EXPECT_EQ(rows.asked, 1);
}

/// 8 + 2^-5 is half-way between two consecutive bf16 numbers, which differ by 2^-4.
TEST(Certainty, TieInDoubleIsResolvedIfTheCastIsNeeded) {
  for (const double side : {-1.0, 0.0, 1.0}) {
    Rows rows;
    rows.e.value[4] = 8 + 0x1p-5;
    const auto certifier = rows.certifier(
        reference::SeventyFive(8 + 0x1p-5) + side * reference::SeventyFive(0x1p-120), 1'000'000);
    Certifier::certify(certifier, rows.arithmetic, rows.e);
    EXPECT_EQ(rows.asked, 0);  // no judgement needs the definition
    EXPECT_EQ(rows.e.certainty.ties, 1);
    certifier->settle_casts(rows.arithmetic, rows.e);
    EXPECT_EQ(rows.asked, 1);
    EXPECT_EQ(rows.e.certainty.ties, side == 0 ? 1 : 0);
    EXPECT_EQ(rows.e.certainty.by_definition, side == 0 ? 0 : 1);
    EXPECT_EQ(rows.e.value[4],
              side == 0 ? 8 + 0x1p-5 : std::nextafter(8 + 0x1p-5, side * HUGE_VAL));
  }
}

TEST(Certainty, PartsAreCertifiedWhenTheyAreMade) {
  Rows rows;
  rows.e.radius[5] = 0x1p-20;
  Expectation parts = rows.e;
  parts.resize(0);
  parts.part = [whole = rows.e](std::span<const std::int64_t> of) {
    Expectation part = whole;
    part.rows = {of.begin(), of.end()};
    return part;
  };
  Certifier::certify(rows.certifier(reference::SeventyFive(8) + 0x1p-21, 1000), rows.arithmetic,
                     parts);
  EXPECT_EQ(rows.asked, 0);
  std::int64_t visited = 0;
  each_part(parts, [&](const Expectation& part) {
    ++visited;
    EXPECT_EQ(part.value[5], 8 + 0x1p-21);
    EXPECT_EQ(part.certainty.by_definition, 1);
  });
  EXPECT_EQ(visited, 1);
}

/// E30.
TEST(Certainty, TheDefinitionMustLieWithinTheRadius) {
  Rows rows;
  const auto agree = [&](reference::SeventyFive value) {
    rows.certifier(value, 0)->require_agreement({rows.e}, 100);
  };
  agree(8);
  agree(reference::SeventyFive(8) + 0x1p-30);
  EXPECT_EQ(rows.asked, 2);  // one row, even without a budget
  EXPECT_THROW(agree(reference::SeventyFive(8) + 0x1p-29), std::logic_error);
  EXPECT_THROW(agree(reference::SeventyFive(8) - 0x1p-29), std::logic_error);
  rows.certifier(reference::SeventyFive(9), 0)->require_agreement({rows.e}, 99);  // a row costs 100
}

}  // namespace
}  // namespace assay::conformance
