#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "../../printed.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/operators/nsa_compress_grad.hpp"
#include "bilinear/exactness.hpp"
#include "compression/problem.hpp"
#include "kernel.hpp"

namespace assay::conformance {
namespace {

using testing::CompressKernel;
using testing::CompressOp;
using testing::CompressPlan;
using testing::printed;
using testing::SumOrder;
using CompressCase = Case<CompressOp>;
using Problem = CompressOp::Problem;
using spec::DType;
using spec::Rounding;

CompressCase exact_case_case(Track track, DType dtype, std::uint64_t seed) {
  CompressCase c{.problem = {.dtype = dtype, .heads = 2, .head_dim = 32, .compress_block_size = 48},
                 .track = track,
                 .seed = seed};
  compression::set_lengths(c.problem, {0, 130, 20, 48, 64});
  return c;
}

TEST(CompressExactCaseCases, EveryOrderIsBitExact) {
  for (const Track track : {Track::exact, Track::exact_staged})
    for (const DType dtype : {DType::fp16, DType::bf16})
      for (const SumOrder order :
           {SumOrder::ascending, SumOrder::shuffled, SumOrder::pairwise, SumOrder::windows})
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
          CompressKernel kernel(testing::healthy_plan(order));
          const CaseReport report = judge_case(exact_case_case(track, dtype, seed), kernel);
          EXPECT_EQ(report.verdict, Verdict::conforms) << printed(report);
        }
}

/// A declaration of arithmetic, and a kernel that follows it.
struct Declared {
  const char* name;
  spec::Numerics numerics;
  CompressPlan plan;
};

std::vector<Declared> declared_kernels() {
  const CompressPlan healthy = testing::healthy_plan(SumOrder::windows);
  CompressPlan away = healthy, truncated = healthy, staged = healthy, half = healthy,
               partial = healthy;
  away.cast = testing::to_bf16_away, away.half_cast = testing::to_fp16_away;
  truncated.cast = testing::to_bf16_truncated;
  truncated.half_cast = testing::to_fp16;  // judged in bf16 only
  staged.stage = testing::to_bf16_away;
  half.add_to = half.stage = testing::to_fp16;
  partial.contribution = partial.add_to = testing::to_bf16;
  return {{"away", {.round_out = Rounding::rna}, away},
          {"truncated", {.round_out = Rounding::rtz}, truncated},
          {"staged", {.stage = DType::bf16, .round_stage = Rounding::rna}, staged},
          {"half", {.accumulator = spec::Accumulator::fp16}, half},
          {"partial", {.partials = DType::bf16}, partial}};
}

/// Equation E47 (the number of bits that products and sums may have in an exact case). fp32 has 24
/// significant bits, fp16 has 11, bf16 has 8. A product may have as many bits as the narrowest type
/// to which the kernel rounds it. For a sum, the types of its accumulator and of its partial sums
/// are the limit.
TEST(CompressExactCaseCases, BitsAreThoseOfTheNarrowestType) {
  struct Line {
    spec::Numerics numerics;
    DType io;
    int product, sum;
  };
  const Line lines[] = {
      {{}, DType::bf16, 8, 24},
      {{}, DType::fp16, 11, 24},
      {{.stage = DType::bf16}, DType::fp16, 8, 24},
      {{.stage = DType::fp16}, DType::bf16, 8, 24},
      {{.accumulator = spec::Accumulator::fp16}, DType::fp16, 11, 11},
      {{.partials = DType::bf16}, DType::fp16, 8, 8},
      {{.partials = DType::fp16}, DType::bf16, 8, 11},
      {{.partials = DType::bf16, .accumulator = spec::Accumulator::fp16}, DType::fp16, 8, 8}};
  for (const auto& [numerics, io, product, sum] : lines) {
    const bilinear::Exactness found = bilinear::exactness(numerics, io);
    EXPECT_EQ(found.product, product);
    EXPECT_EQ(found.sum, sum);
  }
}

TEST(CompressExactCaseCases, EveryDeclaredProfileIsBitExact) {
  for (const Declared& declared : declared_kernels())
    for (const Track track : {Track::exact, Track::exact_staged}) {
      CompressKernel kernel(declared.plan, declared.numerics);
      const CaseReport report = judge_case(exact_case_case(track, DType::bf16, 2), kernel);
      const bool is_open =
          track == Track::exact_staged && declared.numerics.partials == DType::bf16;
      EXPECT_EQ(report.verdict, is_open ? Verdict::not_applicable : Verdict::conforms)
          << declared.name << ' ' << printed(report);
    }
}

TEST(CompressExactCaseCases, TheCastsModeShows) {
  for (const DType dtype : {DType::fp16, DType::bf16})
    for (const Track track : {Track::exact, Track::exact_staged}) {
      CompressPlan plan = testing::healthy_plan();
      plan.cast = testing::to_bf16_away, plan.half_cast = testing::to_fp16_away;
      CompressKernel kernel(plan);
      const CaseReport report = judge_case(exact_case_case(track, dtype, 4), kernel);
      EXPECT_EQ(report.verdict, Verdict::nonconformant_structural) << report.command_line;
    }
}

TEST(CompressExactCaseCases, UndeclaredStagingShowsOnTheSecondTrack) {
  for (const DType dtype : {DType::fp16, DType::bf16}) {
    CompressPlan plan = testing::healthy_plan();
    plan.stage = dtype == DType::fp16 ? testing::to_fp16 : testing::to_bf16;
    CompressKernel kernel(plan);
    EXPECT_EQ(judge_case(exact_case_case(Track::exact, dtype, 4), kernel).verdict,
              Verdict::conforms);
    EXPECT_EQ(judge_case(exact_case_case(Track::exact_staged, dtype, 4), kernel).verdict,
              Verdict::nonconformant_structural);
  }
}

TEST(CompressExactCaseCases, SimpleBugsShow) {
  const CompressPlan healthy = testing::healthy_plan();
  CompressPlan once = healthy, dropped = healthy, late = healthy, channel = healthy;
  once.overlap = false;
  dropped.skipped_window = 7;
  late.start = [](const Problem& p, std::int64_t, std::int64_t i) {
    return i * p.compress_stride + 1;
  };
  channel.weight_channels = 31;
  for (const CompressPlan& plan : {once, dropped, late, channel})
    for (const Track track : {Track::exact, Track::exact_staged}) {
      CompressKernel kernel(plan);
      EXPECT_EQ(judge_case(exact_case_case(track, DType::bf16, 5), kernel).verdict,
                Verdict::nonconformant_structural);
    }
}

/// In every gradient some sums have more bits than the output type, so that the final rounding
/// decides the last bit.
TEST(CompressExactCaseCases, SomeSumsAreRounded) {
  for (const DType dtype : {DType::fp16, DType::bf16})
    for (const Track track : {Track::exact, Track::exact_staged}) {
      const CompressCase c = exact_case_case(track, dtype, 1);
      const auto exact_case = Suite<spec::NsaCompressGrad>::exact(c, {});
      for (const ExactTensor& tensor :
           Suite<spec::NsaCompressGrad>::exact_tensors(exact_case, c.problem)) {
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

TEST(CompressExactCaseCases, LongSumsThinOutAndStayExact) {
  CompressCase c = exact_case_case(Track::exact_staged, DType::fp16, 3);
  compression::set_lengths(c.problem, {3000});
  CompressKernel kernel(testing::healthy_plan(SumOrder::shuffled));
  c.rows = 16;
  const CaseReport report = judge_case(c, kernel);
  EXPECT_EQ(report.verdict, Verdict::conforms) << printed(report);
}

TEST(CompressExactCaseCases, StagingOfUnknownTiesHasNone) {
  EXPECT_THROW(Suite<spec::NsaCompressGrad>::exact(
                   exact_case_case(Track::exact_staged, DType::bf16, 1),
                   {.stage = DType::bf16, .round_stage = Rounding::stochastic}),
               NoExactCase);
  EXPECT_NO_THROW(Suite<spec::NsaCompressGrad>::exact(
      exact_case_case(Track::exact, DType::bf16, 1),
      {.stage = DType::bf16, .round_stage = Rounding::stochastic}));
}

}  // namespace
}  // namespace assay::conformance
