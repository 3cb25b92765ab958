#include "assay/optimized/flash_attention_score_grad/estimate.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

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
  spec.rates.l2_bandwidth.value = 1e14;
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

RC_GTEST_PROP(Estimate, NeverBeatsTheRoofline, ()) {
  const auto up_to = [](std::int64_t last) { return *rc::gen::inRange<std::int64_t>(1, last + 1); };
  Problem p{.input_layout = *rc::gen::element(spec::Layout::bsh, spec::Layout::bnsd),
            .dtype = *rc::gen::element(spec::DType::bf16, spec::DType::fp32),
            .batch = up_to(4),
            .heads_kv = up_to(8),
            .seq_q = up_to(6000),
            .seq_kv = up_to(6000),
            .head_dim = up_to(768)};
  p.heads_q = p.heads_kv * up_to(8);
  p.head_dim_v = up_to(p.head_dim);
  const device::Spec spec = device::a2();
  const Estimate estimate = estimated(p, spec);
  const double pairs = static_cast<double>(p.batch * p.heads_q) * static_cast<double>(p.seq_q) *
                       static_cast<double>(p.seq_kv);
  const double multiplications = pairs * static_cast<double>(3 * p.head_dim + 2 * p.head_dim_v);
  const double peak = peak_rate(spec, {spec::size_of(p.dtype)}) * spec.cores.cube.value;
  RC_ASSERT(estimate.makespan.count >= multiplications / peak);
  RC_ASSERT(estimate.cube_utilisation <= 1);
  for (const device::Cycles busy : estimate.busy) RC_ASSERT(busy <= estimate.makespan);
  const double moved = static_cast<double>(estimate.read.count + estimate.written.count);
  RC_ASSERT(estimate.seconds >= moved / spec.rates.l2_bandwidth.value);
}

TEST(Estimate, IsReportedByTheImplementationAfterARun) {
  const test::Example example = {.problem = {.seq_q = 30, .seq_kv = 20}};
  const auto implementation = optimized::flash_attention_score_grad(device::a2());
  EXPECT_EQ(implementation->name(), "optimized-a2");
  EXPECT_TRUE(implementation->metrics().empty());
  test::Op::Outputs outputs = test::outputs_of(example);
  implementation->run(example.problem, test::inputs_of(example), outputs);
  const Estimate expected = estimated(example.problem, device::a2());
  const auto metrics = implementation->metrics();
  EXPECT_EQ(metrics.size(), 17U);
  for (const auto& metric : metrics) {
    EXPECT_GT(metric.value, 0) << metric.name;
    if (metric.name == "makespan") {
      EXPECT_EQ(metric.value, expected.makespan.count);
    }
  }
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
