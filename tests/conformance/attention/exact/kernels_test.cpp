#include "kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "assay/conformance/attention/exact_case.hpp"
#include "cases.hpp"

namespace assay::conformance {
namespace {

using exact_case_test::Bug;
using exact_case_test::configuration;
using exact_case_test::configurations;
using exact_case_test::Kernel;
using exact_case_test::Op;
using spec::DType;

CaseReport judged(const Kernel& kernel, const Case<Op>& c, const AttentionExactCase& exact_case) {
  CaseReport report;
  Suite<Op>::compare_exact(exact_case, c.problem, run(kernel, c, exact_case.inputs),
                           kernel.numerics, report);
  return report;
}

std::string first_finding(const CaseReport& report) {
  return report.findings.empty() ? "no finding" : report.findings.front().text;
}

/// Partial results in 16 bits, and exp(score - lse) without a cast that absorbs its error, have no
/// exact case.
bool has_no_exact_case(const Kernel& kernel, const Case<Op>& c) {
  const bool narrow = c.problem.dtype != DType::fp32;
  return (kernel.name == "composed" && narrow && c.problem.group() > 1) ||
         (kernel.name == "log_sum" && !narrow);
}

std::vector<Case<Op>> plain_cases(std::uint64_t seed, Track track) {
  std::vector<Case<Op>> cases;
  for (std::int64_t k = 0; k < configurations; ++k) cases.push_back(configuration(k, seed, track));
  return cases;
}

void expect_healthy_kernels_exact(const std::vector<Case<Op>>& cases) {
  std::size_t runs = 0;
  for (const Case<Op>& c : cases) {
    const std::optional<spec::Tensor> mask = make_mask(c);
    for (const Kernel& kernel : exact_case_test::healthy_kernels(c.problem.dtype)) {
      if (has_no_exact_case(kernel, c)) {
        EXPECT_THROW(Suite<Op>::exact(c, kernel.numerics), NoExactCase);
        continue;
      }
      const CaseReport report =
          judged(kernel, c, make_exact_case_with_mask(c, kernel.numerics, mask));
      ++runs;
      ASSERT_EQ(report.verdict, Verdict::conforms)
          << kernel.name << ": " << first_finding(report) << "\n"
          << command_line(c);
    }
  }
  EXPECT_GE(runs, 9 * cases.size());
}

TEST(ExactCaseKernels, HealthyOnesAreBitExactWithExactStaging) {
  expect_healthy_kernels_exact(plain_cases(1, Track::exact));
  expect_healthy_kernels_exact(plain_cases(2, Track::exact));
}

TEST(ExactCaseKernels, HealthyOnesAreBitExactWithRoundedStaging) {
  expect_healthy_kernels_exact(plain_cases(1, Track::exact_staged));
  expect_healthy_kernels_exact(plain_cases(2, Track::exact_staged));
}

TEST(ExactCaseKernels, HealthyOnesAreBitExactThroughoutTheFamily) {
  expect_healthy_kernels_exact(exact_case_test::family(6, Track::exact));
  expect_healthy_kernels_exact(exact_case_test::family(8, Track::exact_staged));
}

/// Whether the bug can show in the case at all.
bool can_show(Bug bug, const Case<Op>& c) {
  const Op::Problem& p = c.problem;
  const bool narrow = p.dtype != DType::fp32,
             roomy = p.head_dim >= 8 && p.seq_kv > 1 && p.seq_q > 1;
  switch (bug) {
    case Bug::mask_off_by_one:
    case Bug::mask_ignored:
      return roomy && p.atten_mask != spec::MaskShape::absent;
    case Bug::last_key_dropped:
      return roomy && (p.sparse_mode != 2 || p.seq_q >= p.seq_kv);
    case Bug::wrong_kv_head:
      return p.heads_kv > 1 && p.group() > 1;
    case Bug::truncating_cast:
    case Bug::ties_swapped:
      return narrow && roomy;
    case Bug::truncating_stage:
      return narrow && roomy && c.track == Track::exact_staged;
    case Bug::tf32_products:
      return !narrow && roomy && c.seed % 2 == 0;
    case Bug::scale_magnitude:
      return p.scale_value < 0 && roomy;
    default:
      return roomy;
  }
}

struct Share {
  std::int64_t flagged = 0, all = 0;
};

/// How often a kernel with the bug is flagged where it can be.
std::map<Bug, Share> flagged(Track track, std::uint64_t seed) {
  std::map<Bug, Share> shares;
  for (std::int64_t k = 0; k < configurations; ++k) {
    const Case<Op> c = configuration(k, seed, track);
    Kernel kernel =
        exact_case_test::healthy_kernels(c.problem.dtype)[static_cast<std::size_t>(k % 2)];
    const AttentionExactCase exact_case = Suite<Op>::exact(c, kernel.numerics);
    for (const Bug bug : exact_case_test::bugs) {
      if (!can_show(bug, c)) continue;
      kernel.bug = bug;
      const CaseReport report = judged(kernel, c, exact_case);
      shares[bug].flagged += report.verdict == Verdict::nonconformant_structural ? 1 : 0;
      ++shares[bug].all;
    }
  }
  return shares;
}

void expect_bugs_flagged(Track track) {
  const std::map<Bug, Share> shares = flagged(track, 2);
  for (const auto& [bug, share] : shares) {
    // A truncated operand is often absorbed by the cast of the sum that it enters.
    const std::int64_t percent = bug == Bug::truncating_stage ? 75 : 90;
    EXPECT_GE(share.flagged * 100, share.all * percent)
        << "bug " << static_cast<int>(bug) << ": " << share.flagged << " of " << share.all;
  }
  EXPECT_EQ(shares.size(), std::size(exact_case_test::bugs) - (track == Track::exact ? 1 : 0));
}

TEST(ExactCaseKernels, PlantedBugsAreFlaggedInMostCasesWithExactStaging) {
  expect_bugs_flagged(Track::exact);
}

TEST(ExactCaseKernels, PlantedBugsAreFlaggedInMostCasesWithRoundedStaging) {
  expect_bugs_flagged(Track::exact_staged);
}

/// Whether the bug can show in the case at all.
bool family_can_show(Bug bug, const Op::Problem& p) {
  const bool masked = p.atten_mask != spec::MaskShape::absent;
  const bool outer = p.pse_type < 2, biased = p.pse_shift != spec::PseShape::absent;
  const bool packed = is_packed(p.input_layout);
  const std::int64_t mode = masked ? p.sparse_mode : 0;
  switch (bug) {
    case Bug::left_anchor:
      return (mode == 3 || mode == 6 || mode == 7) && (packed || p.seq_q != p.seq_kv) && !biased;
    case Bug::band_everywhere:
      return mode == 7 || mode == 8;
    case Bug::longer_prefix:
    case Bug::first_prefix:
      return mode == 6;
    case Bug::drop_bits_reversed:
    case Bug::drop_bits_of_head_0:
    case Bug::keep_missing_in_dp:
      return p.has_dropout();
    case Bug::bias_type_confused:
      return biased && (outer || !p.q_start_idx.empty());
    case Bug::bias_of_head_0:
      return biased && outer;
    case Bug::bias_ignored:
    case Bug::slope_sign:
      return biased && (bug == Bug::bias_ignored || !outer);
    case Bug::start_ignored:
      return !p.q_start_idx.empty();
    case Bug::rope_unscaled:
    case Bug::rope_ignored:
      return p.head_dim_rope > 0;
    case Bug::offset_after_empty:
      return packed && std::ranges::count(p.lengths_kv, 0) > 0 && p.length_kv(0) > 0;
    case Bug::statistics_order:
      return packed;
    default:
      return false;
  }
}

TEST(ExactCaseKernels, PlantedBugsOfTheFamilyAreFlagged) {
  std::map<Bug, Share> shares;
  for (const Track track : {Track::exact, Track::exact_staged})
    for (const Case<Op>& c : exact_case_test::family(track == Track::exact ? 3 : 4, track)) {
      Kernel kernel = exact_case_test::healthy_kernels(c.problem.dtype)[0];
      const AttentionExactCase exact_case = Suite<Op>::exact(c, kernel.numerics);
      for (const Bug bug : exact_case_test::family_bugs) {
        if (!family_can_show(bug, c.problem)) continue;
        kernel.bug = bug;
        const bool seen =
            judged(kernel, c, exact_case).verdict == Verdict::nonconformant_structural;
        shares[bug].flagged += seen ? 1 : 0;
        ++shares[bug].all;
      }
    }
  for (const auto& [bug, share] : shares)
    EXPECT_GE(share.flagged * 100, share.all * 75)
        << "bug " << static_cast<int>(bug) << ": " << share.flagged << " of " << share.all;
  EXPECT_EQ(shares.size(), std::size(exact_case_test::family_bugs));
}

TEST(ExactCaseKernels, NarrowStagingIsFlaggedInFp32) {
  Case<Op> c = configuration(2, 3, Track::exact);
  c.problem.head_dim = c.problem.head_dim_v = 32;
  c.problem.scale_value = 0.125;
  c.problem.seq_q = c.problem.seq_kv = 32;
  Kernel kernel{.name = "narrow", .numerics = {.stage = DType::bf16}};
  const spec::Numerics declared{.stage = DType::fp32};
  const AttentionExactCase exact_case = Suite<Op>::exact(c, declared);
  CaseReport report;
  Suite<Op>::compare_exact(exact_case, c.problem, run(kernel, c, exact_case.inputs), declared,
                           report);
  EXPECT_EQ(report.verdict, Verdict::nonconformant_structural);
}

}  // namespace
}  // namespace assay::conformance
