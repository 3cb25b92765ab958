#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "assay/conformance/coverage.hpp"
#include "assay/conformance/operators/nsa_compress_grad.hpp"
#include "assay/conformance/record.hpp"
#include "assay/conformance/sampling.hpp"
#include "operators/nsa_compress_grad_factors.hpp"

namespace assay::conformance {
namespace {

using Op = spec::NsaCompressGrad;
using compress::CompressCase;

const std::vector<CompressCase>& default_cases() {
  static const auto cases = sample<Op>({});
  return cases;
}

bool is_value_case(const CompressCase& c) { return c.track != Track::phase1; }

TEST(CompressSample, IsDeterministicAndChangesWithItsSeed) {
  EXPECT_EQ(sample<Op>({}), default_cases());
  EXPECT_NE(sample<Op>({.seed = 2}), default_cases());
}

TEST(CompressSample, HasSomeHundredCasesAndNoLineTwice) {
  EXPECT_GE(std::ranges::count_if(default_cases(), is_value_case), 200);
  EXPECT_LE(default_cases().size(), 600u);
  std::set<std::string> lines;
  for (const auto& c : default_cases()) EXPECT_TRUE(lines.insert(command_line(c)).second);
}

TEST(CompressSample, EveryLineParsesBack) {
  for (auto c : default_cases()) {
    c.note.clear();
    EXPECT_EQ(parse_case<Op>(case_words(command_line(c), Op::name)), c) << command_line(c);
  }
}

TEST(CompressSample, EveryValueCaseHasAWindow) {
  for (const auto& c : default_cases())
    if (is_value_case(c)) {
      EXPECT_GT(output_extents(c.problem).tokens(), 0) << command_line(c);
    }
}

TEST(CompressSample, ExercisesEverySideOfEveryRow) {
  std::set<std::string_view> accepted;
  std::set<std::string> violated;
  for (const auto& c : default_cases()) {
    if (!c.violate.empty()) {
      violated.insert(c.violate);
      continue;
    }
    const auto call = call_of(c);
    for (const auto& row : Op::constraints())
      if (row.applies(call) && row.holds(call)) accepted.insert(row.id);
  }
  for (const auto& row : Op::constraints()) {
    EXPECT_TRUE(!row.has(spec::Side::accept) || accepted.contains(row.id)) << row.id;
    for (const auto& violation : row.violations)
      EXPECT_TRUE(violated.contains(std::string(row.id) + ":" + std::string(violation.name)))
          << row.id << ":" << violation.name;
  }
}

TEST(CompressSample, EveryPairOfAxesIsAdmissibleAndCovered) {
  PairCoverage coverage = pair_coverage<Op>();
  EXPECT_EQ(coverage.unreachable(), 0);
  for (const auto& c : default_cases())
    if (c.track == Track::bound) cover(coverage, c);
  EXPECT_TRUE(coverage.uncovered().empty()) << coverage.uncovered().front();
}

/// A drawn case has the values on the axes that were chosen for it.
TEST(CompressSample, DrawnCasesAreOfTheirCategories) {
  for (std::uint64_t lot = 1; lot <= 400; ++lot) {
    const Choice choice = random_choice(compress::choice_space(), lot);
    const CompressCase c = compress::draw_case(compress::decode(choice), lot);
    const Choice axes = compress::axes_of(c);
    for (std::size_t axis = 0; axis < compress::axis_count; ++axis)
      EXPECT_EQ(axes[axis], choice[axis]) << compress::axes().name(axis) << ": " << command_line(c);
  }
}

/// What nsa_grad.md asks the suite to hold.
TEST(CompressSample, HoldsTheWindowsAndLengthsOfTheGuidance) {
  std::set<std::pair<std::int64_t, std::int64_t>> windows;
  std::set<std::int64_t> covering;
  bool crosses[3] = {};
  for (const auto& c : default_cases()) {
    const Op::Problem& p = c.problem;
    if (!is_value_case(c)) continue;
    windows.emplace(p.compress_block_size, p.compress_stride);
    covering.insert((p.compress_block_size - 1) / p.compress_stride + 1);
    if (output_extents(p).tokens() <= 64 || p.lengths.empty()) continue;
    const auto is_short = [&](std::int64_t b) {
      return p.length(b) > 0 && p.length(b) < p.compress_block_size;
    };
    crosses[0] |= is_short(0);
    crosses[2] |= is_short(p.batch - 1);
    for (std::int64_t b = 1; b + 1 < p.batch; ++b) crosses[1] |= is_short(b) && is_short(b + 1);
  }
  for (const auto& [size, stride] : {std::pair{32, 16}, {48, 16}, {64, 16}, {128, 16}, {48, 32},
                                     {64, 48}, {128, 112}})
    EXPECT_TRUE(windows.contains({size, stride})) << size << ' ' << stride;
  for (std::int64_t count = 2; count <= 8; ++count)
    if (count != 7) {
      EXPECT_TRUE(covering.contains(count)) << count;
    }
  for (const bool crossed : crosses) EXPECT_TRUE(crossed);
}

TEST(CompressSample, HasPublishedShapes) {
  const auto models = compress::model_cases(compress::ModelExtent::whole);
  EXPECT_GE(models.size(), 4u);
  EXPECT_EQ(models[0].problem.head_dim, 192);
  EXPECT_EQ(models[0].problem.seq, 8192);
  for (const auto& c : compress::model_cases(compress::ModelExtent::cut))
    EXPECT_LE(input_extents(c.problem).rows() * c.problem.head_dim, 1'500'000) << c.note;
}

}  // namespace
}  // namespace assay::conformance
