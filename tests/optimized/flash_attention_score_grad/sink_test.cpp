#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../implementation_checks.hpp"
#include "trial.hpp"

/// Tests the gradient of the sinks (one additional logit per query head).
namespace {

using namespace assay;
using spec::DropMask;
using spec::DType;
using spec::Layout;
using spec::MaskShape;
using spec::PseShape;
using spec::SinkShape;
using spec::Striding;
using test::Example;
using test::expect_gradients;
using test::Op;
using test::run;
using test::same_bits;
using test::values;

Op::Problem padded(std::int64_t seq_q, std::int64_t seq_kv, DType dtype = DType::fp32) {
  return {.input_layout = Layout::bnsd,
          .dtype = dtype,
          .batch = 2,
          .heads_q = 4,
          .heads_kv = 2,
          .seq_q = seq_q,
          .seq_kv = seq_kv,
          .head_dim = 24,
          .head_dim_v = 20,
          .scale_value = 0.25,
          .sink = SinkShape::per_head};
}

TEST(Sink, HasTheGradientOfTheFormulaInEveryLayoutAndType) {
  for (const Layout layout : {Layout::bsh, Layout::sbh, Layout::bsnd, Layout::bnsd})
    for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
      Op::Problem p = padded(21, 37, dtype);
      p.input_layout = layout;
      expect_gradients({.problem = p});
    }
}

/// Both axes have several tiles, and the last ones are smaller. The last tile of keys has unused
/// columns after its last key, which the kernel must not add.
TEST(Sink, SumsAllTilesOfAllSequences) {
  for (const auto& [q, kv] : {std::pair{1, 1}, {130, 15}, {300, 129}, {129, 700}})
    expect_gradients({.problem = padded(q, kv)});
}

TEST(Sink, LeavesOutMaskedPairsAndFullyMaskedRows) {
  Op::Problem causal = padded(300, 140);
  causal.sparse_mode = 3, causal.atten_mask = MaskShape::compressed;
  expect_gradients({.problem = causal});
  Op::Problem p = padded(140, 150, DType::fp16);
  p.sparse_mode = 1, p.atten_mask = MaskShape::bnss;
  expect_gradients({.problem = p, .excludes = [](auto, auto n, std::int64_t i, std::int64_t j) {
                      return i % 7 == n || j > i;
                    }});
}

TEST(Sink, IsNeitherScaledNorBiasedNorDropped) {
  for (const std::int64_t type : {0, 1, 2}) {
    Op::Problem p = padded(140, 140);
    p.scale_value = -0.5;
    p.pse_type = type, p.pse_shift = type == 2 ? PseShape::slopes_n : PseShape::bnss;
    p.drop_mask = DropMask::exact, p.keep_prob = 0.7;
    expect_gradients({.problem = p});
  }
}

TEST(Sink, ReadsAndWritesStridedViews) {
  for (const Striding striding : {Striding::padded, Striding::transposed}) {
    const Example example = {.problem = padded(21, 37), .inputs = striding, .outputs = striding};
    expect_gradients(example);
    const Op::Outputs outputs = run(example, test::inputs_of(example));
    EXPECT_TRUE(test::untouched_outside(*outputs.dsink, std::byte{0xAB}));
  }
}

/// Five sequences, one without queries and one without keys.
Op::Problem packed(DType dtype = DType::fp32) {
  Op::Problem p = padded(150, 160, dtype);
  p.input_layout = Layout::tnd, p.batch = 5;
  p.lengths_q = {3, 150, 0, 7, 140}, p.lengths_kv = {5, 160, 4, 0, 130};
  return p;
}

TEST(Sink, SumsAllPackedSequencesInEitherOrderOfTheStatistics) {
  for (const auto order : {spec::StatisticsOrder::heads_first, spec::StatisticsOrder::tokens_first})
    for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
      Op::Problem p = packed(dtype);
      p.statistics_order = order;
      expect_gradients({.problem = p});
    }
}

TEST(Sink, LeavesOutMaskedPairsOfPackedSequences) {
  for (const std::int64_t mode : {2, 3, 4, 7, 8}) {
    Op::Problem p = packed(DType::fp16);
    p.sparse_mode = mode, p.atten_mask = MaskShape::compressed;
    p.pre_tokens = 40, p.next_tokens = 20;
    expect_gradients({.problem = p});
  }
}

TEST(Sink, IsNotDroppedInPackedSequencesAndMeetsRopes) {
  Op::Problem p = packed(DType::bf16);
  p.drop_mask = DropMask::exact, p.keep_prob = 0.7;
  expect_gradients({.problem = p, .inputs = Striding::padded, .outputs = Striding::transposed});
  p = packed(DType::bf16);
  p.head_dim_rope = 8, p.atten_mask = MaskShape::ss, p.sparse_mode = 1;
  expect_gradients({.problem = p});
}

/// The page of u5 allows this. The numbers are the same, so the gradients have the same bits.
TEST(Sink, ReadsAnAttentionOutputOfFp32) {
  const Example example = {.problem = packed(DType::fp16)};
  Op::Inputs inputs = test::inputs_of(example);
  const Op::Outputs expected = run(example, inputs);
  const spec::Tensor narrow = inputs.attention_in;
  inputs.attention_in = test::tensor_of(
      {.present = true, .dtype = DType::fp32, .shape = narrow.shape, .strides = narrow.strides},
      std::byte{0});
  for (const std::int64_t element : spec::viewed_elements(narrow))
    inputs.attention_in.store(element, narrow.load(element));
  EXPECT_TRUE(same_bits(expected, run(example, inputs)));
}

/// The sink is about 200 below the scores, so its probability is 0 in fp32.
TEST(Sink, HasNoGradientIfItsProbabilityIsZero) {
  const Example example = {.problem = padded(30, 40)};
  Op::Inputs inputs = test::inputs_without_forward(example);
  for (const std::int64_t element : spec::viewed_elements(*inputs.sink))
    inputs.sink->store(element, -200);
  optimized::flash_attention_score_grad(device::a2())->forward(example.problem, inputs);
  for (const double gradient : values(example.problem, run(example, inputs)).dsink) {
    EXPECT_EQ(gradient, 0);
    EXPECT_FALSE(std::signbit(gradient));
  }
}

TEST(Sink, HasAZeroGradientWithoutKeys) {
  Op::Problem p = padded(21, 37);
  p.seq_kv = 0;
  const Example example = {.problem = p};
  Op::Outputs outputs = test::outputs_of(example);
  optimized::flash_attention_score_grad(device::a2())
      ->run(p, test::inputs_without_forward(example), outputs);
  EXPECT_EQ(values(p, outputs).dsink, std::vector<double>(4, 0.0));
}

/// The statistics of a row are its maximum m and its sum of exponentials l. If they change to m + c
/// and l exp(-c), the gradients may change only by rounding errors. A kernel that adds the sink to
/// l a second time fails this test.
TEST(Sink, IsTakenFromTheStatisticsOnly) {
  const Example example = {.problem = padded(60, 50)};
  Op::Inputs inputs = test::inputs_of(example);
  const auto before = values(example.problem, run(example, inputs));
  for (const std::int64_t element : spec::viewed_elements(inputs.softmax_max))
    inputs.softmax_max.store(element, inputs.softmax_max.load(element) + 0.5);
  for (const std::int64_t element : spec::viewed_elements(inputs.softmax_sum))
    inputs.softmax_sum.store(element, inputs.softmax_sum.load(element) * std::exp(-0.5));
  const auto after = values(example.problem, run(example, inputs));
  EXPECT_LT(test::error(after.dsink, before.dsink), 2e-6);
  EXPECT_LT(test::error(after.dq, before.dq), 2e-6);
}

TEST(Sink, HasTheSameBitsForAnyThreadsAndInstructions) {
  for (Op::Problem p : {padded(300, 500, DType::bf16), packed(DType::bf16)}) {
    p.drop_mask = DropMask::exact, p.keep_prob = 0.5;
    const Example example = {.problem = p};
    const Op::Inputs inputs = test::inputs_of(example);
    const Op::Outputs one = run(example, inputs, {.threads = 1});
    for (const optimized::Options& options : test::ways_to_run({3})) {
      SCOPED_TRACE(test::printed(options));
      EXPECT_TRUE(same_bits(one, run(example, inputs, options)));
    }
  }
}

TEST(Sink, ChangesOtherGradientsOnlyThroughTheStatistics) {
  const Example with = {.problem = padded(140, 150, DType::bf16)};
  const Op::Inputs inputs = test::inputs_of(with);
  Example without = with;
  without.problem.sink = SinkShape::absent;
  Op::Outputs expected = run(with, inputs);
  expected.dsink.reset();
  EXPECT_TRUE(same_bits(expected, run(without, inputs)));
}

}  // namespace
