#include "judge/parts_judge.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "assay/conformance/report/sentences.hpp"
#include "assay/spec/at.hpp"

namespace assay::conformance {
namespace {

constexpr std::int64_t rows_of_head = 37, heads = 3, dim = 3, row_count = heads * rows_of_head;
constexpr std::int64_t vague_row = 50, wrong_row = 71;

using spec::at;

/// A replacement for the high-precision evaluation. It agrees with the expected values except in
/// the row `vague_row`, where it is larger by one.
class Truth : public Definition {
 public:
  Truth(const Expectation& e, std::int64_t* asked) : e_(e), asked_(asked) {}
  DefinedRows row(const std::string& tensor, std::int64_t number) override {
    ++*asked_;
    std::vector<reference::SeventyFive> values;
    for (std::int64_t d = 0; d < dim; ++d)
      values.emplace_back(e_.value[at(number * dim + d)] + (number == vague_row ? 1 : 0));
    return {{tensor, defined_row(values)}};
  }
  std::int64_t products(const std::string&) const override { return 100; }

 private:
  Expectation e_;
  std::int64_t* asked_;
};

/// A tensor with one wrong output row, one row in which the reference has an error radius of 2, and
/// one exempt row (a row that is not judged).
struct Subject {
  Subject() {
    e.name = "dk";
    e.extents = {.batch = 1, .heads = heads, .seq = rows_of_head, .dim = dim};
    e.rows.resize(at(row_count));
    std::iota(e.rows.begin(), e.rows.end(), 0);
    e.resize(row_count);
    std::mt19937_64 random(7);
    std::normal_distribution<double> normal;
    for (std::size_t k = 0; k < e.value.size(); ++k) {
      e.value[k] = 4 * normal(random), e.radius[k] = 1e-9, e.tau[k] = 0.5, e.tau_det[k] = 0.75;
      e.sigma[k] = 0.05, e.core[k] = 0.25F;
      actual.push_back(e.value[k] + 0.05 * normal(random));
    }
    std::ranges::fill(e.share, 0.1);
    e.exempt[at(5)] = 1;
    for (std::int64_t d = 0; d < dim; ++d) {
      e.radius[at(vague_row * dim + d)] = 2;
      actual[at(vague_row * dim + d)] += 1;
      actual[at(wrong_row * dim + d)] += 0.6 + 0.1 * static_cast<double>(d);
    }
  }

  std::shared_ptr<Certifier> certifier(std::int64_t affordable) {
    auto made = std::make_shared<Certifier>(std::make_unique<Truth>(e, &asked));
    made->allow(affordable);
    return made;
  }
  std::vector<double> read(std::span<const std::int64_t> rows) const {
    std::vector<double> values;
    for (const std::int64_t row : rows)
      values.insert(values.end(), actual.begin() + row * dim, actual.begin() + (row + 1) * dim);
    return values;
  }

  /// Judges the tensor in parts of at most `rows_of_part` rows, in random order, from `threads`
  /// threads.
  Decision in_parts(std::int64_t rows_of_part, std::int64_t threads, std::int64_t affordable) {
    Expectation frame = e;
    frame.truncate(0);
    const std::vector<Expectation> frames = {frame};
    const auto reader = [this](const Expectation&, auto rows) { return read(rows); };
    PartsJudge judge(frames, reader, arithmetic, certifier(affordable));
    std::vector<Expectation> parts;
    for (std::int64_t r = 0; r < row_count; r += rows_of_part)
      parts.push_back(slice_of(e, r, std::min(rows_of_part, row_count - r)));
    std::ranges::shuffle(parts, std::mt19937_64(9));
    {
      std::vector<std::jthread> team;
      for (std::int64_t t = 0; t < threads; ++t)
        team.emplace_back([&, t] {
          for (std::int64_t k = t; k < std::ssize(parts); k += threads) judge.take(parts[at(k)]);
        });
    }
    report = {}, controls.clear();
    return judge.finish(1000, report, controls);
  }
  /// Judges the whole tensor at once. The result must equal the result of judging in parts.
  Decision kept(std::int64_t affordable) {
    Expectation whole = e;
    const auto own = certifier(affordable);
    own->require_agreement({whole}, 1000);
    Certifier::certify(own, arithmetic, whole);
    report = {};
    controls = {judge_controls(whole, arithmetic)};
    const auto reader = [this](auto rows) { return read(rows); };
    return compare(whole, reader, arithmetic, report.tensors.emplace_back(), report.findings);
  }

  Expectation e;
  std::vector<double> actual;
  std::int64_t asked = 0;
  Arithmetic arithmetic{{}, spec::DType::fp32};
  CaseReport report;
  std::vector<ControlResult> controls;
};

void expect_alike(const CaseReport& a, const CaseReport& b) {
  const TensorReport &x = a.tensors[0], &y = b.tensors[0];
  EXPECT_EQ(x.worst, y.worst);
  EXPECT_EQ(x.worst_at.s, y.worst_at.s);
  EXPECT_EQ(x.histogram, y.histogram);
  EXPECT_EQ(x.elements_judged, y.elements_judged);
  EXPECT_EQ(x.exempt, y.exempt);
  EXPECT_EQ(x.median_tau_over_ref, y.median_tau_over_ref);
  EXPECT_NEAR(x.rms, y.rms, 1e-12);
  EXPECT_NEAR(x.bias, y.bias, 1e-12);
  EXPECT_NEAR(x.nu, y.nu, 1e-9);
  EXPECT_EQ(x.certainty.by_definition, y.certainty.by_definition);
  EXPECT_EQ(x.certainty.open, y.certainty.open);
  EXPECT_EQ(x.certainty.elements(), y.certainty.elements());
  for (const auto& [name, value] : x.yardsticks) {
    const auto other =
        std::ranges::find(y.yardsticks, name, [](const auto& one) { return one.first; });
    ASSERT_NE(other, y.yardsticks.end());
    EXPECT_NEAR(other->second, value, 1e-9) << name;
  }
  ASSERT_EQ(a.findings.size(), b.findings.size());
  for (std::size_t k = 0; k < a.findings.size(); ++k)
    EXPECT_EQ(sentence_of(a.findings[k], a), sentence_of(b.findings[k], b));
}

TEST(PartsJudge, AgreesWithStoredEntries) {
  for (const std::int64_t affordable : {0, 100, 1000}) {
    Subject subject;
    const Decision whole = subject.kept(affordable);
    const CaseReport report = subject.report;
    const ControlResult controls = subject.controls[0];
    ASSERT_GE(report.findings.size(), 3U);  // the wrong row
    const std::int64_t asked = subject.asked;
    for (const std::int64_t rows : {1, 5, 64, 1000})
      for (const std::int64_t threads : {1, 4}) {
        subject.asked = 0;
        const Decision decision = subject.in_parts(rows, threads, affordable);
        EXPECT_EQ(decision, whole.value()) << rows;
        EXPECT_EQ(decision.fact, whole.fact);
        expect_alike(report, subject.report);
        EXPECT_EQ(subject.controls[0].letters, controls.letters);
        EXPECT_EQ(subject.controls[0].rows_nonzero, controls.rows_nonzero);
        EXPECT_EQ(subject.controls[0].blind_heads, controls.blind_heads);
        EXPECT_EQ(subject.asked, asked);
      }
  }
}

TEST(PartsJudge, UsesTheDefinitionForUncertainRows) {
  Subject subject;
  subject.in_parts(8, 2, 1000);
  EXPECT_EQ(subject.report.tensors[0].certainty.by_definition, dim);
  EXPECT_EQ(subject.report.tensors[0].certainty.open, 0);
  subject.in_parts(8, 2, 0);
  EXPECT_EQ(subject.report.tensors[0].certainty.open, dim);
}

/// The judge stores rows with an uncertain cast until the end, because only then it knows how much
/// time is left for high-precision evaluations. To save memory it stores only some rows of every
/// part.
TEST(PartsJudge, CertifiesCastsOfSomeRowsOfEveryPart) {
  Subject subject;
  for (std::int64_t row = 0; row < row_count; ++row)
    for (std::int64_t d = 0; d < dim; ++d)
      if (row != vague_row)
        subject.e.radius[at(row * dim + d)] = 1e-6, subject.e.tau[at(row * dim + d)] = 2;
  const std::int64_t judged = (row_count - 1) * dim,
                     asked = (3 * 16 + 1) * dim;  // the wrong row and the vague row
  for (const std::int64_t threads : {1, 3}) {
    subject.in_parts(rows_of_head, threads, 1'000'000);
    EXPECT_EQ(subject.report.tensors[0].certainty.by_definition, asked);
    EXPECT_EQ(subject.report.tensors[0].certainty.enclosed, judged - asked);
  }
  subject.in_parts(rows_of_head, 1, 1000);  // the budget that wide radii have left
  EXPECT_EQ(subject.report.tensors[0].certainty.by_definition, dim);
  EXPECT_EQ(subject.report.tensors[0].certainty.enclosed, judged - dim);
}

TEST(PartsJudge, HasTheSameBitsForEveryNumberOfThreads) {
  Subject subject;
  subject.in_parts(8, 1, 1000);
  const TensorReport one = subject.report.tensors[0];
  for (const std::int64_t threads : {2, 3, 7}) {
    subject.in_parts(8, threads, 1000);
    EXPECT_EQ(subject.report.tensors[0].rms, one.rms);
    EXPECT_EQ(subject.report.tensors[0].bias_t, one.bias_t);
    EXPECT_EQ(subject.report.tensors[0].yardsticks, one.yardsticks);
  }
}

/// If the reference differs too much from the high-precision evaluation in any row, also in the
/// middle of the tensor, the judge rejects the reference.
TEST(PartsJudge, ContradictedReferenceIsRejected) {
  Subject subject;
  subject.e.radius[at(row_count / 2 * dim)] = 1e-9;
  const std::vector<Expectation> frames = {subject.e};
  const auto certifier = subject.certifier(0);
  const auto reader = [&](const Expectation&, auto rows) { return subject.read(rows); };
  PartsJudge judge(frames, reader, subject.arithmetic, certifier);
  Expectation wrong = subject.e;
  wrong.value[at(row_count / 2 * dim)] += 1e-6;
  judge.take(wrong);
  EXPECT_THROW(judge.finish(1000, subject.report, subject.controls), std::logic_error);
}

TEST(PartsJudge, ReportsRowsThatWereNotPassed) {
  Subject subject;
  const std::vector<Expectation> frames = {subject.e};
  const auto reader = [&](const Expectation&, auto rows) { return subject.read(rows); };
  PartsJudge judge(frames, reader, subject.arithmetic, nullptr);
  Expectation some = slice_of(subject.e, 0, 40), others = slice_of(subject.e, 41, row_count - 41);
  judge.take(others), judge.take(some);
  EXPECT_THROW(judge.finish(0, subject.report, subject.controls), std::logic_error);
}

}  // namespace
}  // namespace assay::conformance
