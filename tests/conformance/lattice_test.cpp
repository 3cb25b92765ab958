#include "assay/conformance/lattice.hpp"

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

#include "assay/reference/flash_attention_score_grad.hpp"
#include "lattice_kernels.hpp"

namespace assay::conformance {
namespace {

using lattice_test::Bug;
using lattice_test::Kernel;
using lattice_test::Op;
using spec::DType;
using spec::MaskShape;

/// Every configuration of the sweep below: types, layouts, head ratios, lengths, head sizes and masks in turn.
Case<Op> configuration(std::int64_t k, std::uint64_t seed, Track track) {
  constexpr DType types[] = {DType::bf16, DType::fp16, DType::fp32};
  constexpr spec::Layout layouts[] = {spec::Layout::bnsd, spec::Layout::bsh, spec::Layout::sbh, spec::Layout::bsnd};
  constexpr std::int64_t dims[][2] = {{16, 16}, {1, 1}, {40, 24}, {2, 2}, {64, 64}, {3, 1}, {8, 8}, {33, 33}, {5, 4}};
  constexpr std::int64_t lengths[][2] = {{19, 33}, {1, 17}, {33, 19}, {17, 1}, {32, 32}, {7, 70}, {50, 6}};
  constexpr std::int64_t heads[][3] = {{1, 1, 1}, {1, 4, 2}, {2, 3, 1}, {1, 2, 2}};
  struct Masked {
    MaskShape shape;
    std::int64_t mode;
    const char* pattern;
  };
  constexpr Masked masks[] = {{MaskShape::absent, 0, "random"}, {MaskShape::compressed, 2, "random"},
                              {MaskShape::ss, 1, "dead_rows"},  {MaskShape::compressed, 3, "random"},
                              {MaskShape::bnss, 0, "random"},   {MaskShape::b_one_ss, 1, "causal_right"},
                              {MaskShape::one_one_ss, 1, "band"}};
  constexpr spec::Striding stridings[] = {spec::Striding::contiguous, spec::Striding::padded, spec::Striding::transposed};
  Case<Op> c{.track = track, .seed = seed};
  Op::Problem& p = c.problem;
  p.dtype = types[k % 3];
  p.input_layout = layouts[(k / 3) % 4];
  const auto& [batch, heads_q, heads_kv] = heads[(k / 2) % 4];
  p.batch = batch, p.heads_q = heads_q, p.heads_kv = heads_kv;
  p.seq_q = lengths[k % 7][0], p.seq_kv = lengths[k % 7][1];
  p.head_dim = dims[k % 9 + (k / 9 + k) % 9 >= 9 ? (k + 4) % 9 : k % 9][0];
  p.head_dim_v = dims[k % 9 + (k / 9 + k) % 9 >= 9 ? (k + 4) % 9 : k % 9][1];
  const Masked& mask = masks[(k / 5) % 7];
  p.atten_mask = mask.shape, p.sparse_mode = mask.mode, c.mask = mask.pattern;
  p.scale_value = lattice_scale(p, seed + static_cast<std::uint64_t>(k));
  c.inputs = stridings[k % 3], c.outputs = stridings[(k / 3) % 3];
  return c;
}

constexpr std::int64_t configurations = 66;

CaseReport judged(const Kernel& kernel, const Case<Op>& c, const LatticeCase& lattice) {
  CaseReport report;
  judge_lattice(lattice, c.problem, run(kernel, c, lattice.inputs), kernel.numerics, report);
  return report;
}

std::string first_finding(const CaseReport& report) {
  return report.findings.empty() ? "no finding" : report.findings.front().text;
}

/// Whether the plan must refuse this kernel's profile.
bool refused(const Kernel& kernel, const Case<Op>& c) {
  if (kernel.name == "composed" && c.problem.group() > 1 && c.problem.dtype != DType::fp32) return true;
  return kernel.name == "log_sum" && c.problem.dtype == DType::fp32;
}

void expect_healthy_kernels_exact(Track track, std::uint64_t first_seed, std::uint64_t seeds) {
  std::int64_t judged_runs = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + seeds; ++seed)
    for (std::int64_t k = 0; k < configurations; ++k) {
      const Case<Op> c = configuration(k, seed, track);
      for (const Kernel& kernel : lattice_test::healthy_kernels(c.problem.dtype)) {
        if (refused(kernel, c)) {
          EXPECT_THROW(make_lattice(c, kernel.numerics), std::runtime_error);
          continue;
        }
        const LatticeCase lattice = make_lattice(c, kernel.numerics);
        const CaseReport report = judged(kernel, c, lattice);
        ++judged_runs;
        ASSERT_EQ(report.verdict, Verdict::conforms)
            << kernel.name << ": " << first_finding(report) << "\n" << command_line(c);
      }
    }
  EXPECT_GE(judged_runs, 500);
}

TEST(Lattice, HealthyKernelsAreBitExactWithExactStaging) { expect_healthy_kernels_exact(Track::a1, 1, 2); }

TEST(Lattice, HealthyKernelsAreBitExactWithRoundedStaging) { expect_healthy_kernels_exact(Track::a2, 1, 2); }

}  // namespace
}  // namespace assay::conformance
