#include "lattice_kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "assay/conformance/lattice.hpp"
#include "lattice_cases.hpp"

namespace assay::conformance {
namespace {

using lattice_test::Bug;
using lattice_test::configuration;
using lattice_test::configurations;
using lattice_test::Kernel;
using lattice_test::Op;
using spec::DType;

CaseReport judged(const Kernel& kernel, const Case<Op>& c, const LatticeCase& lattice) {
  CaseReport report;
  judge_lattice(lattice, c.problem, run(kernel, c, lattice.inputs), kernel.numerics, report);
  return report;
}

std::string first_finding(const CaseReport& report) {
  return report.findings.empty() ? "no finding" : report.findings.front().text;
}

/// Partial results in 16 bits, and exp(score - lse) without a cast that absorbs its error, have no lattice.
bool has_no_lattice(const Kernel& kernel, const Case<Op>& c) {
  const bool narrow = c.problem.dtype != DType::fp32;
  return (kernel.name == "composed" && narrow && c.problem.group() > 1) ||
         (kernel.name == "log_sum" && !narrow);
}

void expect_healthy_kernels_exact(Track track, std::uint64_t seed) {
  std::int64_t runs = 0;
  for (std::int64_t k = 0; k < configurations; ++k) {
    const Case<Op> c = configuration(k, seed, track);
    for (const Kernel& kernel : lattice_test::healthy_kernels(c.problem.dtype)) {
      if (has_no_lattice(kernel, c)) {
        EXPECT_THROW(make_lattice(c, kernel.numerics), NoLattice);
        continue;
      }
      const CaseReport report = judged(kernel, c, make_lattice(c, kernel.numerics));
      ++runs;
      ASSERT_EQ(report.verdict, Verdict::conforms)
          << kernel.name << ": " << first_finding(report) << "\n" << command_line(c);
    }
  }
  EXPECT_GE(runs, 600);
}

TEST(LatticeKernels, HealthyOnesAreBitExactWithExactStaging) {
  expect_healthy_kernels_exact(Track::a1, 1);
  expect_healthy_kernels_exact(Track::a1, 2);
}

TEST(LatticeKernels, HealthyOnesAreBitExactWithRoundedStaging) {
  expect_healthy_kernels_exact(Track::a2, 1);
  expect_healthy_kernels_exact(Track::a2, 2);
}

/// Whether the bug can show in the case at all.
bool can_show(Bug bug, const Case<Op>& c) {
  const Op::Problem& p = c.problem;
  const bool narrow = p.dtype != DType::fp32, roomy = p.head_dim >= 8 && p.seq_kv > 1 && p.seq_q > 1;
  switch (bug) {
    case Bug::mask_off_by_one:
    case Bug::mask_ignored: return roomy && p.atten_mask != spec::MaskShape::absent;
    case Bug::last_key_dropped: return roomy && (p.sparse_mode != 2 || p.seq_q >= p.seq_kv);
    case Bug::wrong_kv_head: return p.heads_kv > 1 && p.group() > 1;
    case Bug::truncating_cast:
    case Bug::ties_swapped: return narrow && roomy;
    case Bug::truncating_stage: return narrow && roomy && c.track == Track::a2;
    case Bug::tf32_products: return !narrow && roomy && c.seed % 2 == 0;
    case Bug::scale_magnitude: return p.scale_value < 0 && roomy;
    default: return roomy;
  }
}

struct Share {
  std::int64_t flagged = 0, all = 0;
};

/// How often a kernel with the bug is flagged where it can be; its healthy twin never is.
Share flagged(Bug bug, Track track, std::uint64_t seed) {
  Share share;
  for (std::int64_t k = 0; k < configurations; ++k) {
    const Case<Op> c = configuration(k, seed, track);
    if (!can_show(bug, c)) continue;
    Kernel kernel = lattice_test::healthy_kernels(c.problem.dtype)[static_cast<std::size_t>(k % 2)];
    kernel.bug = bug;
    const CaseReport report = judged(kernel, c, make_lattice(c, kernel.numerics));
    share.flagged += report.verdict == Verdict::nonconformant_structural ? 1 : 0;
    ++share.all;
  }
  return share;
}

TEST(LatticeKernels, EveryPlantedBugIsFlaggedInMostCasesWhereItCanShow) {
  for (const Track track : {Track::a1, Track::a2})
    for (const Bug bug : {Bug::mask_off_by_one, Bug::scale_missing_on_dk, Bug::row_term_missing,
                          Bug::wrong_kv_head, Bug::last_key_dropped, Bug::truncating_cast,
                          Bug::ties_swapped, Bug::bf16_accumulation, Bug::customary_scale,
                          Bug::stale_last_row, Bug::truncating_stage, Bug::mask_ignored,
                          Bug::tf32_products, Bug::scale_magnitude}) {
      const Share share = flagged(bug, track, 2);
      if (bug == Bug::truncating_stage && track == Track::a1) continue;
      EXPECT_GT(share.all, 0) << static_cast<int>(bug);
      EXPECT_GE(share.flagged * 10, share.all * 9)
          << "bug " << static_cast<int>(bug) << ": " << share.flagged << " of " << share.all;
    }
}

TEST(LatticeKernels, NarrowStagingIsFlaggedInFp32) {
  Case<Op> c = configuration(2, 3, Track::a1);
  c.problem.head_dim = c.problem.head_dim_v = 32;
  c.problem.scale_value = 0.125;
  c.problem.seq_q = c.problem.seq_kv = 32;
  Kernel kernel{.name = "narrow", .numerics = {.stage = DType::bf16}};
  const spec::NumericsProfile declared{.stage = DType::fp32};
  const LatticeCase lattice = make_lattice(c, declared);
  CaseReport report;
  judge_lattice(lattice, c.problem, run(kernel, c, lattice.inputs), declared, report);
  EXPECT_EQ(report.verdict, Verdict::nonconformant_structural);
}

}  // namespace
}  // namespace assay::conformance
