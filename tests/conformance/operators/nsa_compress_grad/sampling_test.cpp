#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "../../plan/sample_checks.hpp"
#include "assay/conformance/operators/nsa_compress_grad.hpp"
#include "assay/conformance/plan/coverage.hpp"
#include "compression/plan/factors.hpp"
#include "operators/nsa_compress_grad/traits.hpp"
#include "plan/hand_made_cases.hpp"

namespace assay::conformance {
namespace {

using Op = spec::NsaCompressGrad;
using CompressCase = Case<Op>;

const std::vector<CompressCase>& default_cases() { return testing::default_cases<Op>(); }

bool is_value_case(const CompressCase& c) { return testing::is_value_case(c); }

TEST(CompressSample, TakesHeadSizesAndSequencesFromRangesAndMoreTokensThan16BitsCount) {
  std::set<std::int64_t> head_dims, sequences;
  std::int64_t tokens = 0;
  for (const auto& c : default_cases()) {
    if (!is_value_case(c)) continue;
    head_dims.insert(c.problem.head_dim), sequences.insert(c.problem.batch);
    tokens = std::max(tokens, input_extents(c.problem).tokens());
  }
  for (std::int64_t size = 16; size <= 256; size += 16)
    EXPECT_TRUE(head_dims.contains(size)) << size;
  for (std::int64_t count = 1; count <= 6; ++count) EXPECT_TRUE(sequences.contains(count)) << count;
  EXPECT_GT(tokens, 0xffff);
}

TEST(CompressSample, ReachesEveryPairOfAxes) { EXPECT_EQ(pair_coverage<Op>().unreachable(), 0); }

TEST(CompressSample, EveryValueCaseHasAWindow) {
  for (const auto& c : default_cases())
    if (is_value_case(c)) {
      EXPECT_GT(output_extents(c.problem).tokens(), 0) << command_line(c);
    }
}

/// A random case must have the values that were chosen for its category.
TEST(CompressSample, DrawnCasesAreOfTheirCategories) {
  for (std::uint64_t lot = 1; lot <= 400; ++lot) {
    const Choice choice = random_choice(compression::choice_space<Op>(), lot);
    const CompressCase c =
        compression::draw_case<Op>(compression::factors<Op>().chosen(choice), lot);
    const Choice values = compression::factors<Op>().read(c);
    for (std::size_t axis = 0; axis < compression::factors<Op>().axes().size(); ++axis)
      EXPECT_EQ(values[axis], choice[axis])
          << compression::factors<Op>().axes()[axis].name << ": " << command_line(c);
  }
}

/// Tests that the sample contains the windows and lengths with which kernels of the compression are
/// often wrong.
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
  for (const auto& [size, stride] :
       {std::pair{32, 16}, {48, 16}, {64, 16}, {128, 16}, {48, 32}, {64, 48}, {128, 112}})
    EXPECT_TRUE(windows.contains({size, stride})) << size << ' ' << stride;
  for (std::int64_t count = 2; count <= 8; ++count)
    if (count != 7) {
      EXPECT_TRUE(covering.contains(count)) << count;
    }
  for (const bool crossed : crosses) EXPECT_TRUE(crossed);
}

/// The windows fill 24 cores exactly, or there is one window less or one more.
TEST(CompressSample, HasAsManyWindowsAsCoresAndOneMoreOrLess) {
  std::set<std::int64_t> additive;
  for (const auto& c : testing::default_cases<Op>())
    if (testing::is_value_case(c)) additive.insert((output_extents(c.problem).tokens() + 1) % 24);
  for (const std::int64_t rest : {0, 1, 2}) EXPECT_TRUE(additive.contains(rest)) << rest;
}

TEST(CompressSample, HasPublishedShapes) {
  const auto models = hand_made_cases<Op>("models", {.full = true});
  EXPECT_GE(models.size(), 4u);
  EXPECT_EQ(models[0].problem.head_dim, 192);
  EXPECT_EQ(models[0].problem.seq, 8192);
  for (const auto& c : hand_made_cases<Op>("models"))
    EXPECT_LE(input_extents(c.problem).rows() * c.problem.head_dim, 1'500'000) << c.note;
}

}  // namespace
}  // namespace assay::conformance
