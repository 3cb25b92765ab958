#include "assay/optimized/flash_attention_score_grad/estimate.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "../implementation_checks.hpp"
#include "assay/device/cost.hpp"
#include "assay/optimized/flash_attention_score_grad.hpp"
#include "oracle.hpp"

namespace {

using namespace assay;
using Problem = spec::FlashAttentionScoreGrad::Problem;
using optimized::Estimate;

Estimate estimated(const Problem& p, const device::Spec& spec) {
  return optimized::estimate(p, optimized::plan(p, spec), spec);
}

Problem long_sequence(spec::Layout layout) {
  return {.input_layout = layout,
          .heads_q = 12,
          .heads_kv = 12,
          .seq_q = 32768,
          .seq_kv = 32768,
          .head_dim = 128,
          .head_dim_v = 128};
}

/// Device facts, section 6.3: a prediction outside this range needs an explanation.
TEST(Estimate, OfLongSequencesWith128ChannelsLiesWithinThePlausibleRange) {
  for (const spec::Layout layout : {spec::Layout::bnsd, spec::Layout::bsh})
    for (const device::Spec& spec : {device::a2(), device::a3()}) {
      const double utilisation = estimated(long_sequence(layout), spec).cube_utilisation;
      EXPECT_GT(utilisation, 0.40);
      EXPECT_LT(utilisation, 0.60);
    }
}

TEST(Estimate, OfACausalProblemIsAboutHalf) {
  Problem p = long_sequence(spec::Layout::bnsd);
  const double full = estimated(p, device::a2()).makespan.count;
  p.sparse_mode = 3, p.atten_mask = spec::MaskShape::compressed;
  const double causal = estimated(p, device::a2()).makespan.count;
  EXPECT_GT(causal / full, 0.50);
  EXPECT_LT(causal / full, 0.60);
}

TEST(Estimate, OfShortRowsIsLongerOnceTheyBoundTheLoads) {
  device::Spec spec = device::a2();
  spec.rates.l2_bandwidth.value = 1e14, spec.rates.package.value = 5.8;
  const double adjacent = estimated(long_sequence(spec::Layout::bnsd), spec).makespan.count;
  const double strided = estimated(long_sequence(spec::Layout::bsnd), spec).makespan.count;
  EXPECT_GT(strided / adjacent, 1.2);
}

TEST(Estimate, OfASmallProblemIsMostlyLaunch) {
  const Problem p = {.seq_q = 100, .seq_kv = 100, .head_dim = 64, .head_dim_v = 64};
  const Estimate estimate = estimated(p, device::a2());
  EXPECT_GT(estimate.seconds, 6e-6);
  EXPECT_LT(estimate.seconds, 30e-6);
}

/// Scores go to the vector cores, and what they make of them comes back to the cube core; both
/// waits are longer here than every load that could hide them.
TEST(Estimate, OfALoneBlockWaitsForItsTwoHandOvers) {
  const Problem p = {.seq_q = 100, .seq_kv = 100, .head_dim = 64, .head_dim_v = 64};
  const auto makespan = [&](double handover) {
    device::Spec spec = device::a2();
    spec.overheads.handover.value = handover;
    return estimated(p, spec).makespan.count;
  };
  EXPECT_NEAR(makespan(1.5e6) - makespan(1e6), 2 * 0.5e6, 1e-3);
}

std::int64_t up_to(std::int64_t last) { return *rc::gen::inRange<std::int64_t>(1, last + 1); }

RC_GTEST_PROP(Estimate, NeverBeatsTheRoofline, ()) {
  Problem p{
      .input_layout = *rc::gen::element(spec::Layout::bsh, spec::Layout::bnsd, spec::Layout::tnd),
      .dtype = *rc::gen::element(spec::DType::bf16, spec::DType::fp32),
      .batch = up_to(4),
      .heads_kv = up_to(8),
      .seq_q = up_to(6000),
      .seq_kv = up_to(6000),
      .head_dim = up_to(768)};
  p.heads_q = p.heads_kv * up_to(8);
  p.head_dim_v = up_to(p.head_dim);
  if (is_packed(p.input_layout)) {
    for (std::int64_t b = 0; b < p.batch; ++b) {
      p.lengths_q.push_back(b == 0 ? p.seq_q : up_to(p.seq_q + 1) - 1);
      p.lengths_kv.push_back(b == 0 ? p.seq_kv : up_to(p.seq_kv + 1) - 1);
    }
    p.head_dim_rope = up_to(p.head_dim + 1) - 1;
  }
  if (*rc::gen::arbitrary<bool>()) p.pse_shift = spec::PseShape::bnss;
  if (*rc::gen::arbitrary<bool>()) p.keep_prob = 0.5, p.drop_mask = spec::DropMask::exact;
  const device::Spec spec = device::a2();
  const Estimate estimate = estimated(p, spec);
  const double multiplications =
      static_cast<double>(score_count(p)) *
      static_cast<double>(3 * (p.head_dim + p.head_dim_rope) + 2 * p.head_dim_v);
  const double peak = peak_rate(spec, {spec::size_of(p.dtype)}) * spec.cores.cube.value;
  RC_ASSERT(estimate.makespan.count >= multiplications / peak);
  RC_ASSERT(estimate.cube_utilisation <= 1);
  for (const device::Cycles busy : estimate.busy) RC_ASSERT(busy <= estimate.makespan);
  const double moved = static_cast<double>(estimate.read.count + estimate.written.count);
  RC_ASSERT(estimate.seconds >= moved / spec.rates.l2_bandwidth.value);
}

/// Whole blocks only, so that every score is read once.
TEST(Estimate, CountsTheTrafficOfBiasAndDropoutBits) {
  Problem p = {
      .heads_q = 3, .heads_kv = 3, .seq_q = 1024, .seq_kv = 512, .head_dim = 64, .head_dim_v = 64};
  const Estimate plain = estimated(p, device::a2());
  const std::int64_t scores = score_count(p);
  const auto more = [&](const Problem& with) {
    return estimated(with, device::a2()).read.count - plain.read.count;
  };
  Problem biased = p;
  biased.pse_shift = spec::PseShape::bnss;
  EXPECT_EQ(more(biased), 2 * scores);
  biased.pse_shift = spec::PseShape::bn1s;
  EXPECT_GT(more(biased), 0);
  EXPECT_LT(more(biased), scores / 8);
  const auto vector_busy = [](const Problem& with) {
    return estimated(with, device::a2()).busy[static_cast<std::size_t>(device::Pipe::vector)].count;
  };
  Problem sloped = p;
  sloped.pse_shift = spec::PseShape::slopes_n, sloped.pse_type = 2;
  EXPECT_LT(more(sloped), scores / 100);
  EXPECT_GT(vector_busy(sloped), vector_busy(p));
  Problem rooted = sloped;
  rooted.pse_type = 3;
  EXPECT_GT(vector_busy(rooted), vector_busy(sloped));
  Problem dropped = p;
  dropped.keep_prob = 0.5, dropped.drop_mask = spec::DropMask::exact;
  EXPECT_EQ(more(dropped), scores / 8);
  EXPECT_GT(vector_busy(dropped), vector_busy(p));
}

TEST(Estimate, CountsRopeAsMoreChannels) {
  Problem p = {.input_layout = spec::Layout::tnd,
               .heads_q = 4,
               .heads_kv = 4,
               .seq_q = 4096,
               .seq_kv = 4096,
               .head_dim = 128,
               .head_dim_v = 128};
  const Estimate plain = estimated(p, device::a2());
  p.head_dim_rope = 64;
  const Estimate roped = estimated(p, device::a2());
  const auto cube = static_cast<std::size_t>(device::Pipe::cube);
  // Three of five products grow by half of their channels.
  EXPECT_NEAR(roped.busy[cube].count / plain.busy[cube].count, 1.3, 0.01);
  EXPECT_GT(roped.read, plain.read);
  EXPECT_GT(roped.written, plain.written);
}

TEST(Estimate, OfAPackOfEqualSequencesIsThatOfABatch) {
  Problem p = {.input_layout = spec::Layout::bsnd,
               .batch = 5,
               .heads_q = 4,
               .heads_kv = 2,
               .seq_q = 700,
               .seq_kv = 900,
               .head_dim = 64,
               .head_dim_v = 64,
               .sparse_mode = 3,
               .atten_mask = spec::MaskShape::compressed};
  const Estimate batch = estimated(p, device::a2());
  p.input_layout = spec::Layout::tnd;
  p.lengths_q.assign(5, 700), p.lengths_kv.assign(5, 900);
  const Estimate pack = estimated(p, device::a2());
  EXPECT_EQ(pack.makespan, batch.makespan);
  EXPECT_EQ(pack.read, batch.read);
  EXPECT_EQ(pack.written, batch.written);
}

TEST(Estimate, OfAPackGrowsWithTheLengthsThatItHas) {
  Problem p = {.input_layout = spec::Layout::tnd,
               .batch = 4,
               .heads_q = 24,
               .heads_kv = 24,
               .seq_q = 2048,
               .seq_kv = 2048,
               .head_dim = 64,
               .head_dim_v = 64};
  p.lengths_q = p.lengths_kv = {2048, 2048, 2048, 2048};
  const Estimate full = estimated(p, device::a2());
  p.lengths_q = p.lengths_kv = {2048, 1024, 0, 1024};
  const Estimate part = estimated(p, device::a2());
  const auto cube = static_cast<std::size_t>(device::Pipe::cube);
  EXPECT_DOUBLE_EQ(part.busy[cube].count, full.busy[cube].count * 1.5 / 4);
  EXPECT_LT(part.makespan, full.makespan);
}

TEST(Estimate, IsReportedByTheImplementationAfterARun) {
  const test::Example example = {.problem = {.seq_q = 30, .seq_kv = 20}};
  const auto implementation = optimized::flash_attention_score_grad(device::a2());
  const auto run = [&] {
    test::Op::Outputs outputs = test::outputs_of(example);
    implementation->run(example.problem, test::inputs_of(example), outputs);
  };
  test::expect_metrics(*implementation, run, 17, estimated(example.problem, device::a2()).makespan);
}

TEST(Estimate, ChangesWithTheCostTableButNoOutputBitDoes) {
  const test::Example example = {.problem = {.heads_q = 2, .seq_q = 140, .seq_kv = 150}};
  const test::Op::Inputs inputs = test::inputs_of(example);
  test::Op::Outputs usual = test::outputs_of(example), slow = test::outputs_of(example);
  device::Spec spec = device::a2();
  const auto reference = optimized::flash_attention_score_grad(spec);
  reference->run(example.problem, inputs, usual);
  visit_quantities(spec, [](device::Quantity& quantity) {
    if (quantity.unit == "cycle") quantity.value *= 3;
  });
  const auto changed = optimized::flash_attention_score_grad(spec);
  changed->run(example.problem, inputs, slow);
  EXPECT_EQ(usual.dq.bytes, slow.dq.bytes);
  EXPECT_EQ(usual.dk.bytes, slow.dk.bytes);
  EXPECT_EQ(usual.dv.bytes, slow.dv.bytes);
  const auto cube_busy = [](const auto& implementation) {
    return implementation->metrics().front().value;
  };
  EXPECT_GT(cube_busy(changed), 2 * cube_busy(reference));
}

}  // namespace
