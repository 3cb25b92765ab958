#include <algorithm>

#include "assay/conformance/judge/prepared_case.hpp"
#include "planned_kills.hpp"

namespace assay::conformance {
namespace {

class SizeMutants : public ::testing::TestWithParam<const char*> {};

TEST_P(SizeMutants, IsKilledByAPlannedCase) { testing::expect_killed_as_planned(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Small, SizeMutants,
    ::testing::Values("head_size_between", "group_of_nine", "six_sequences", "window_of_tiles",
                      "prefix_of_tiles", "tokens_in_16_bits", "drop_bits_in_20_bits",
                      "value_of_no_whole_blocks", "one_in_100000", "maximum_in_16_bits",
                      "late_drop_bits_set", "query_of_sequence", "last_round_missed",
                      "narrow_value_of_bsh", "late_rope_missed", "drop_rows_of_square"),
    [](const auto& instance) { return std::string(instance.param); });

/// Cases in which Assay once wrongly reported that correct kernels fail: all rows have the same
/// rounding error, so the errors do not average out.
TEST(FalsePositives, DoNotRecurInTheirCornerCases) {
  int met = 0;
  for (const testing::FlashCase& c : testing::default_cases<spec::FlashAttentionScoreGrad>()) {
    if (c.note != "peaked rows, and 1/keepProb between two numbers of the type" &&
        c.note != "scores larger than a bias that all rows of a key share")
      continue;
    PreparedCase<spec::FlashAttentionScoreGrad> prepared(c);
    for (const auto& variant : mutants::mutants<spec::FlashAttentionScoreGrad>()) {
      if (!variant.healthy) continue;
      const auto kernel = variant.make();
      EXPECT_NE(contribution(judge_case(prepared, *kernel).verdict), ExitCode::nonconformant)
          << variant.name << ": " << command_line(c);
    }
    ++met;
  }
  EXPECT_EQ(met, 3);
}

/// A kernel without a fixed order of additions needs a tolerance for every element. In such a long
/// case the tolerances would take minutes to compute, so the case does not apply.
TEST(LongRelations, DoNotRunAKernelWithoutFixedOrder) {
  const auto& cases = testing::default_cases<spec::FlashAttentionScoreGrad>();
  const auto longest = std::ranges::max_element(cases, {}, [](const testing::FlashCase& c) {
    return c.track == Track::relation ? c.problem.seq_kv : 0;
  });
  EXPECT_GE(longest->problem.seq_kv, 4095);
  mutants::Kernel kernel("any order", mutants::flash_like);
  const CaseReport report = judge_case(*longest, kernel);
  EXPECT_EQ(report.verdict, Verdict::not_applicable);
  EXPECT_EQ(report.findings.front().fact, conformance::FactKind::too_large_to_relate);
}

}  // namespace
}  // namespace assay::conformance
