#include "assay/optimized/nsa_compress_grad/traffic.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "../implementation_checks.hpp"
#include "trial.hpp"

namespace {

using namespace assay;
using optimized::Traffic;
using Problem = spec::NsaCompressGrad::Problem;
using test::compress::problem_of;

Traffic planned(const Problem& p) {
  return optimized::compress::traffic(p, optimized::compress::plan(p, device::a2()));
}

/// The problem has 64 tokens, and therefore three windows of 32 tokens.
TEST(CompressTraffic, OneTileMovesWhatItsWindowsRead) {
  const Traffic one = planned({.seq = 64, .head_dim = 128});
  EXPECT_EQ(one.read.count, 32 * 32 + (64 + 3) * 128 * 2 + 32 * 4);
  EXPECT_EQ(one.written.count, 64 * 128 * 2 + 32 * 4 + 32 * 2);
}

TEST(CompressTraffic, SequencesWithoutWindowsReadNoTokens) {
  const Problem p = problem_of({31, 20, 31, 5}, 32, 16);
  const std::int64_t items = optimized::compress::plan(p, device::a2()).parts;
  EXPECT_EQ(planned(p).read.count, items * (32 * 32 + 32 * 4));
  EXPECT_EQ(planned(p).written.count, 87 * 16 * 2 + items * 32 * 4 + 32 * 2);
}

RC_GTEST_PROP(CompressTraffic, WritesEveryGradientOnce, ()) {
  const auto up_to = [](std::int64_t last) { return *rc::gen::inRange<std::int64_t>(0, last + 1); };
  std::vector<std::int64_t> lengths = {1 + up_to(20000)};
  for (std::int64_t left = up_to(4); left > 0; --left) lengths.push_back(up_to(20000));
  const std::int64_t stride = 16 * (1 + up_to(6));
  Problem p = problem_of(lengths, stride + 16 * (1 + up_to(6)), stride);
  p.heads = 1 + up_to(127), p.head_dim = 1 + up_to(300);
  const optimized::compress::Tiling tiling = optimized::compress::plan(p, device::a2());
  const std::int64_t weights = p.heads * p.compress_block_size;
  RC_ASSERT(planned(p).written.count == input_extents(p).rows() * p.head_dim * 2 +
                                            tiling.partials() * weights * 4 + weights * 2);
}

TEST(CompressTraffic, IsReportedByTheImplementationAfterARun) {
  const test::compress::Example example = {.problem = problem_of({100, 30}, 32, 16)};
  const auto implementation = optimized::nsa_compress_grad(device::a2());
  const auto run = [&] {
    auto outputs = test::compress::outputs_of(example);
    implementation->run(example.problem, test::compress::inputs_of(example), outputs);
  };
  test::expect_metrics(*implementation, run, 3, planned(example.problem));
}

TEST(CompressCostTable, ChangesNoOutputBit) {
  const test::compress::Example example = {.problem = problem_of({400, 300}, 48, 32)};
  const auto inputs = test::compress::inputs_of(example);
  auto usual = test::compress::outputs_of(example), slow = test::compress::outputs_of(example);
  optimized::nsa_compress_grad(device::a2())->run(example.problem, inputs, usual);
  optimized::nsa_compress_grad(test::slower(device::a2()))->run(example.problem, inputs, slow);
  EXPECT_TRUE(test::compress::same_bits(usual, slow));
}

/// The judge uses this declaration to compute the tolerances for the kernel.
TEST(CompressNumerics, DeclaresFp32SumsOneCastToEvenAndOneOrder) {
  const auto implementation = optimized::nsa_compress_grad(device::a2());
  const spec::Numerics numerics = implementation->numerics({});
  EXPECT_EQ(numerics.stage, spec::DType::fp32);
  EXPECT_EQ(numerics.round_out, spec::Rounding::rne);
  EXPECT_EQ(numerics.overflow, spec::Overflow::inf);
  EXPECT_EQ(numerics.accumulator, spec::Accumulator::fp32);
  EXPECT_EQ(numerics.product, spec::Product32::exact);
  EXPECT_EQ(numerics.order, spec::Order::fixed);
  EXPECT_FALSE(numerics.weak);
  EXPECT_FALSE(implementation->has_forward());
}

}  // namespace
