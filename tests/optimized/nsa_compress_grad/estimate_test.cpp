#include "assay/optimized/nsa_compress_grad/estimate.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "../implementation_checks.hpp"
#include "assay/device/cost.hpp"
#include "trial.hpp"

namespace {

using namespace assay;
using device::Pipe;
using optimized::compress::Estimate;
using Problem = spec::NsaCompressGrad::Problem;
using test::compress::problem_of;

Estimate estimated(const Problem& p, const device::Spec& spec = device::a2()) {
  return optimized::compress::estimate(p, optimized::compress::plan(p, spec), spec);
}

Problem long_sequence() { return {.heads = 4, .seq = 65536, .head_dim = 128}; }

device::Cycles busy(const Estimate& estimate, Pipe pipe) {
  return estimate.busy[static_cast<std::size_t>(pipe)];
}

/// 64 tokens under three windows of 32.
TEST(CompressEstimate, OfOneTileIsTheSumOfItsInstructions) {
  const Problem p = {.seq = 64, .head_dim = 128};
  const device::Spec spec = device::a2();
  const auto& v = spec.vector;
  const auto over = [&](const device::VectorCost& cost, std::int64_t numbers) {
    return device::vector(spec, cost, {numbers * 4});
  };
  device::Cycles expected = over(v.cast_to_fp32, 32) + over(v.muls, 32 * 8);
  expected += over(v.cast_to_fp32, 64 * 128) + over(v.cast_to_fp32, 3 * 128);
  for (int window = 0; window < 3; ++window)
    expected += over(v.mul, 32 * 128) + over(v.add, 32 * 128) + over(v.mul, 32 * 128) +
                over(v.add, 32 * 128);
  expected += over(v.cast_to_16bit, 64 * 128) + over(v.row_sum, 32 * 16);
  const Estimate estimate = estimated(p);
  EXPECT_NEAR(busy(estimate, Pipe::vector).count, expected.count, 1e-6);
  EXPECT_EQ(estimate.read.count, 32 * 32 + (64 + 3) * 128 * 2 + 32 * 4);
  EXPECT_EQ(estimate.written.count, 64 * 128 * 2 + 32 * 4 + 32 * 2);
}

TEST(CompressEstimate, OfASmallProblemIsMostlyLaunch) {
  const Estimate estimate = estimated({.seq = 100, .head_dim = 64});
  EXPECT_GT(estimate.seconds, 6e-6);
  EXPECT_LT(estimate.seconds, 15e-6);
}

TEST(CompressEstimate, GrowsWithTheTokensAndWithTheOverlap) {
  Problem p = long_sequence();
  const Estimate plain = estimated(p);
  p.seq *= 2;
  const Estimate longer = estimated(p);
  EXPECT_NEAR(longer.makespan.count / plain.makespan.count, 2, 0.1);
  p = long_sequence();
  p.compress_block_size = 128;
  const Estimate overlapping = estimated(p);
  EXPECT_GT(busy(overlapping, Pipe::vector).count, 3 * busy(plain, Pipe::vector).count);
  EXPECT_LT(overlapping.read.count, 1.3 * static_cast<double>(plain.read.count));
}

TEST(CompressEstimate, OfSequencesWithoutWindowsLoadsNoTokens) {
  const Problem p = problem_of({31, 20, 31, 5}, 32, 16);
  const std::int64_t items = optimized::compress::plan(p, device::a2()).parts;
  const Estimate estimate = estimated(p);
  EXPECT_EQ(estimate.read.count, items * (32 * 32 + 32 * 4));
  EXPECT_EQ(estimate.written.count, 87 * 16 * 2 + items * 32 * 4 + 32 * 2);
}

RC_GTEST_PROP(CompressEstimate, NeverBeatsTheRoofline, ()) {
  const auto up_to = [](std::int64_t last) { return *rc::gen::inRange<std::int64_t>(0, last + 1); };
  std::vector<std::int64_t> lengths = {1 + up_to(20000)};
  for (std::int64_t left = up_to(4); left > 0; --left) lengths.push_back(up_to(20000));
  const std::int64_t stride = 16 * (1 + up_to(6));
  Problem p = problem_of(lengths, stride + 16 * (1 + up_to(6)), stride);
  p.heads = 1 + up_to(127), p.head_dim = 1 + up_to(300);
  const device::Spec spec = device::a2();
  const Estimate estimate = estimated(p, spec);
  const double windows = static_cast<double>(test::compress::windows_within(p));
  const double pairs = windows * static_cast<double>(p.compress_block_size * p.heads * p.head_dim);
  // Two products and two sums of each pair, 64 lanes a cycle at the most.
  const double least = 4 * pairs / 64 / spec.cores.vector.value;
  RC_ASSERT(estimate.makespan.count >= least);
  RC_ASSERT(estimate.vector_utilisation <= 1);
  for (const device::Cycles one : estimate.busy) RC_ASSERT(one <= estimate.makespan);
  const double moved = static_cast<double>(estimate.read.count + estimate.written.count);
  RC_ASSERT(estimate.seconds >= moved / spec.rates.l2_bandwidth.value);
  const double input = static_cast<double>(input_extents(p).rows() * p.head_dim * 2);
  RC_ASSERT(static_cast<double>(estimate.written.count) >= input);
}

TEST(CompressEstimate, IsReportedByTheImplementationAfterARun) {
  const test::compress::Example example = {.problem = problem_of({100, 30}, 32, 16)};
  const auto implementation = optimized::nsa_compress_grad(device::a2());
  const auto run = [&] {
    auto outputs = test::compress::outputs_of(example);
    implementation->run(example.problem, test::compress::inputs_of(example), outputs);
  };
  test::expect_metrics(*implementation, run, 9, estimated(example.problem).makespan);
}

TEST(CompressEstimate, ChangesWithTheCostTableButNoOutputBitDoes) {
  const test::compress::Example example = {.problem = problem_of({400, 300}, 48, 32)};
  const auto inputs = test::compress::inputs_of(example);
  auto usual = test::compress::outputs_of(example), slow = test::compress::outputs_of(example);
  device::Spec spec = device::a2();
  const auto reference = optimized::nsa_compress_grad(spec);
  reference->run(example.problem, inputs, usual);
  visit_quantities(spec, [](device::Quantity& quantity) {
    if (quantity.unit.starts_with("cycle")) quantity.value *= 3;
  });
  const auto changed = optimized::nsa_compress_grad(spec);
  changed->run(example.problem, inputs, slow);
  EXPECT_TRUE(test::compress::same_bits(usual, slow));
  EXPECT_GT(changed->metrics().front().value, 2 * reference->metrics().front().value);
}

/// What is declared is what a judge may hold against it.
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
