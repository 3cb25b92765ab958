#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "../../told.hpp"
#include "assay/conformance/judge/examination.hpp"
#include "assay/conformance/operators/nsa_compress_grad.hpp"
#include "kernel.hpp"
#include "operators/nsa_compress_grad/plan/sampling.hpp"

namespace assay::conformance {
namespace {

using compress::CompressCase;
using testing::CompressKernel;
using testing::CompressOp;
using testing::CompressPlan;
using testing::SumOrder;
using testing::told;
using Problem = CompressOp::Problem;
using spec::DType;
using spec::Rounding;

CompressCase lattice_case(Track track, DType dtype, std::uint64_t seed) {
  CompressCase c{.problem = {.dtype = dtype, .heads = 2, .head_dim = 32, .compress_block_size = 48},
                 .track = track,
                 .seed = seed};
  compress::set_lengths(c.problem, {0, 130, 20, 48, 64});
  return c;
}

TEST(CompressLatticeCases, EveryOrderIsBitExact) {
  for (const Track track : {Track::a1, Track::a2})
    for (const DType dtype : {DType::fp16, DType::bf16})
      for (const SumOrder order :
           {SumOrder::ascending, SumOrder::shuffled, SumOrder::pairwise, SumOrder::windows})
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
          CompressKernel kernel(testing::healthy_plan(order));
          const CaseReport report = examine(lattice_case(track, dtype, seed), kernel);
          EXPECT_EQ(report.verdict, Verdict::conforms) << told(report);
        }
}

/// A profile and a kernel that does what it declares.
struct Declared {
  const char* name;
  spec::NumericsProfile profile;
  CompressPlan plan;
};

std::vector<Declared> declared_kernels() {
  const CompressPlan healthy = testing::healthy_plan(SumOrder::windows);
  CompressPlan away = healthy, truncated = healthy, staged = healthy, half = healthy,
               partial = healthy;
  away.cast = testing::to_bf16_away, away.half_cast = testing::to_fp16_away;
  truncated.cast = testing::to_bf16_truncated;
  truncated.half_cast = testing::to_fp16;  // judged in bf16 alone
  staged.stage = testing::to_bf16_away;
  half.add_to = half.stage = testing::to_fp16;
  partial.contribution = partial.add_to = testing::to_bf16;
  return {{"away", {.round_out = Rounding::rna}, away},
          {"truncated", {.round_out = Rounding::rtz}, truncated},
          {"staged", {.stage = DType::bf16, .round_stage = Rounding::rna}, staged},
          {"half", {.accumulator = spec::Accumulator::fp16}, half},
          {"partial", {.partials = DType::bf16}, partial}};
}

/// E47.
TEST(CompressLatticeCases, EveryDeclaredProfileIsBitExact) {
  for (const Declared& declared : declared_kernels())
    for (const Track track : {Track::a1, Track::a2}) {
      CompressKernel kernel(declared.plan, declared.profile);
      const CaseReport report = examine(lattice_case(track, DType::bf16, 2), kernel);
      const bool is_open = track == Track::a2 && declared.profile.partials == DType::bf16;
      EXPECT_EQ(report.verdict, is_open ? Verdict::not_applicable : Verdict::conforms)
          << declared.name << ' ' << told(report);
    }
}

TEST(CompressLatticeCases, TheCastsModeShows) {
  for (const DType dtype : {DType::fp16, DType::bf16})
    for (const Track track : {Track::a1, Track::a2}) {
      CompressPlan plan = testing::healthy_plan();
      plan.cast = testing::to_bf16_away, plan.half_cast = testing::to_fp16_away;
      CompressKernel kernel(plan);
      const CaseReport report = examine(lattice_case(track, dtype, 4), kernel);
      EXPECT_EQ(report.verdict, Verdict::nonconformant_structural) << report.command_line;
    }
}

TEST(CompressLatticeCases, UndeclaredStagingShowsOnTheSecondTrack) {
  for (const DType dtype : {DType::fp16, DType::bf16}) {
    CompressPlan plan = testing::healthy_plan();
    plan.stage = dtype == DType::fp16 ? testing::to_fp16 : testing::to_bf16;
    CompressKernel kernel(plan);
    EXPECT_EQ(examine(lattice_case(Track::a1, dtype, 4), kernel).verdict, Verdict::conforms);
    EXPECT_EQ(examine(lattice_case(Track::a2, dtype, 4), kernel).verdict,
              Verdict::nonconformant_structural);
  }
}

TEST(CompressLatticeCases, SimpleBugsShow) {
  const CompressPlan healthy = testing::healthy_plan();
  CompressPlan once = healthy, dropped = healthy, late = healthy, channel = healthy;
  once.overlap = false;
  dropped.skipped_window = 7;
  late.start = [](const Problem& p, std::int64_t, std::int64_t i) {
    return i * p.compress_stride + 1;
  };
  channel.weight_channels = 31;
  for (const CompressPlan& plan : {once, dropped, late, channel})
    for (const Track track : {Track::a1, Track::a2}) {
      CompressKernel kernel(plan);
      EXPECT_EQ(examine(lattice_case(track, DType::bf16, 5), kernel).verdict,
                Verdict::nonconformant_structural);
    }
}

/// Of every gradient some numbers have more bits than the output: the final rounding decides their
/// last one.
TEST(CompressLatticeCases, SomeSumsAreRounded) {
  for (const DType dtype : {DType::fp16, DType::bf16})
    for (const Track track : {Track::a1, Track::a2}) {
      const CompressCase c = lattice_case(track, dtype, 1);
      const CompressLattice lattice = Suite<spec::NsaCompressGrad>::exact(c, {});
      for (const ExactTensor& tensor :
           Suite<spec::NsaCompressGrad>::exact_tensors(lattice, c.problem)) {
        std::int64_t rounded = 0, nonzero = 0;
        for (const Dyadic& x : tensor.exact) {
          const double value = std::ldexp(static_cast<double>(x.numerator), x.exponent);
          nonzero += value != 0 ? 1 : 0;
          rounded += spec::round_to(value, spec::format_of(dtype)) != value ? 1 : 0;
        }
        EXPECT_GT(nonzero, 0);
        EXPECT_GT(rounded, 0) << tensor.name << ' ' << command_line(c);
      }
    }
}

TEST(CompressLatticeCases, LongSumsThinOutAndStayExact) {
  CompressCase c = lattice_case(Track::a2, DType::fp16, 3);
  compress::set_lengths(c.problem, {3000});
  CompressKernel kernel(testing::healthy_plan(SumOrder::shuffled));
  c.rows = 16;
  const CaseReport report = examine(c, kernel);
  EXPECT_EQ(report.verdict, Verdict::conforms) << told(report);
}

TEST(CompressLatticeCases, StagingOfUnknownTiesHasNone) {
  EXPECT_THROW(Suite<spec::NsaCompressGrad>::exact(
                   lattice_case(Track::a2, DType::bf16, 1),
                   {.stage = DType::bf16, .round_stage = Rounding::stochastic}),
               NoLattice);
  EXPECT_NO_THROW(Suite<spec::NsaCompressGrad>::exact(
      lattice_case(Track::a1, DType::bf16, 1),
      {.stage = DType::bf16, .round_stage = Rounding::stochastic}));
}

}  // namespace
}  // namespace assay::conformance
