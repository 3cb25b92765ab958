#include "judge/elements/error_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "assay/conformance/judge/expectation.hpp"
#include "assay/conformance/report/results.hpp"
#include "judge/decide.hpp"
#include "judge/elements/distances.hpp"

namespace assay::conformance {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A tensor of zeros in which every element has the tolerance 1. Only some rows are judged.
struct Subject {
  explicit Subject(spec::Extents extents, std::vector<std::int64_t> judged = {})
      : arithmetic({}, spec::DType::fp32) {
    e.name = "dk";
    e.extents = std::move(extents);
    e.rows = std::move(judged);
    if (e.rows.empty()) {
      e.rows.resize(static_cast<std::size_t>(e.extents.rows()));
      std::iota(e.rows.begin(), e.rows.end(), 0);
    }
    e.resize(e.row_count());
    std::ranges::fill(e.tau, 1.0);
    std::ranges::fill(e.tau_det, 1.0);
    actual.assign(e.value.size(), 0.0);
  }

  double& of(std::int64_t b, std::int64_t n, std::int64_t s, std::int64_t d) {
    const auto row = std::ranges::find(e.rows, e.extents.row(b, n, s)) - e.rows.begin();
    return actual.at(static_cast<std::size_t>(row * e.dim() + d));
  }
  void add(Distances& distances, std::int64_t first, std::int64_t end) const {
    for (std::int64_t r = first; r < end; ++r) {
      const JudgedRow row{e, r,
                          std::span(actual).subspan(static_cast<std::size_t>(r * e.dim()),
                                                    static_cast<std::size_t>(e.dim()))};
      std::vector<double> ratios;
      for (std::size_t k = row.first(); k < row.last(); ++k)
        ratios.push_back(relative_to_tau(e, k, row.value(k), arithmetic));
      distances.add(row, ratios);
    }
  }
  /// Makes the map of errors in several steps. Each step ends at one of the rows `ends`.
  ErrorMap map(const std::vector<std::int64_t>& ends = {}) const {
    Distances all(e);
    std::int64_t first = 0;
    for (const std::int64_t end : ends) {
      Distances part(e);
      add(part, first, end);
      all.append(part);
      first = end;
    }
    Distances rest(e);
    add(rest, first, e.row_count());
    all.append(rest);
    TensorReport report;
    all.finish(report);
    return report.errors.value();
  }

  Expectation e;
  std::vector<double> actual;
  Arithmetic arithmetic;
};

TEST(ErrorMap, ALetterIsAHalfPowerOfTwo) {
  Subject subject({.batch = 1, .heads = 1, .seq = 1, .dim = 8});
  const double errors[] = {0, 1, 1.4, 2, 0.5, 0x1p-20, infinity, 0x1p40};
  std::ranges::copy(errors, subject.actual.begin());
  EXPECT_EQ(subject.map().cells, "0OPQM0*z");
}

TEST(ErrorMap, ACellHoldsTheLargestOfItsRowsChannelsAndHeads) {
  Subject subject({.batch = 2, .heads = 3, .seq = 100, .dim = 40});
  subject.of(1, 2, 99, 39) = 2;
  subject.of(0, 1, 99, 38) = 1;
  const ErrorMap map = subject.map();
  EXPECT_EQ(map.row_step, 4);
  EXPECT_EQ(map.channel_step, 2);
  ASSERT_EQ(map.cells.size(), 25u * 20u);
  EXPECT_EQ(map.cells.back(), 'Q');
  EXPECT_EQ(std::ranges::count(map.cells, '0'), 499);
  EXPECT_EQ(map.by_head, "0O000Q");
}

TEST(ErrorMap, UnjudgedCellsAreMarked) {
  Subject subject({.batch = 1, .heads = 2, .seq = 64, .dim = 2}, {0, 1, 40});
  const ErrorMap map = subject.map();
  EXPECT_EQ(map.row_step, 2);
  EXPECT_EQ(map.cells.substr(0, 4), "00..");
  EXPECT_EQ(map.cells.substr(40, 2), "00");
  EXPECT_EQ(map.by_head, "0.");
}

TEST(ErrorMap, AroundTheWorstElementAreItsNeighboursInItsHead) {
  Subject subject({.batch = 1, .heads = 2, .seq = 4, .dim = 9});
  std::iota(subject.actual.begin(), subject.actual.end(), 0.0);
  for (double& x : subject.actual) x *= 1e-3;
  subject.of(0, 1, 1, 8) = 5;
  const ErrorMap map = subject.map();
  EXPECT_EQ(map.near_channel, 6);
  EXPECT_EQ(map.near_rows, (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(map.actual, (std::vector<double>{0.042, 0.043, 0.044, 0.051, 0.052, 5, 0.06, 0.061,
                                             0.062, 0.069, 0.07, 0.071}));
  EXPECT_EQ(map.tolerance, std::vector<double>(12, 1.0));
}

TEST(ErrorMap, PartsAreAsTheWhole) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> error(-2, 2);
  for (int trial = 0; trial < 200; ++trial) {
    Subject subject({.batch = 2, .heads = 2, .seq = 5, .dim = 3});
    for (double& x : subject.actual) x = error(random);
    std::vector<std::int64_t> ends;
    for (std::int64_t row = 0; row < subject.e.row_count(); ++row)
      if (random() % 3 == 0) ends.push_back(row);
    const CaseReport whole{.tensors = {{.errors = subject.map()}}},
        in_parts{.tensors = {{.errors = subject.map(ends)}}};
    EXPECT_EQ(to_json(whole), to_json(in_parts)) << trial;
    EXPECT_GE(subject.map().near_rows.size(), 3u);
  }
}

TEST(ErrorMap, IsKeptOfCasesThatDoNotConform) {
  CaseReport report{.tensors = {{.errors = ErrorMap{.cells = "Q"}}}};
  conclude(report, {Rule::bound, Ground::certain, {FactKind::quoted, "far off"}});
  EXPECT_TRUE(report.tensors.front().errors);
  EXPECT_NE(to_json(report).find("\"errors\""), std::string::npos);
  conclude(report, no_objection());
  EXPECT_FALSE(report.tensors.front().errors);
  EXPECT_EQ(to_json(report).find("\"errors\""), std::string::npos);
}

TEST(ErrorMap, IsAboutTwoThousandBytesAtMost) {
  Subject subject({.batch = 8, .heads = 64, .seq = 2048, .dim = 256},
                  {1000, 1001, 1002, 1003, 1004});
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  for (double& x : subject.actual) x = normal(random) * 1e-5;
  const CaseReport bare{.tensors = {{}}}, whole{.tensors = {{.errors = subject.map()}}};
  EXPECT_EQ(whole.tensors[0].errors->cells.size(), 1024u);
  EXPECT_EQ(whole.tensors[0].errors->by_head.size(), 64u);
  EXPECT_LE(to_json(whole).size() - to_json(bare).size(), 2200u);
}

}  // namespace
}  // namespace assay::conformance
