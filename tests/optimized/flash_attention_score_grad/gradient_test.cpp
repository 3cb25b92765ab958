#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "../implementation_checks.hpp"
#include "assay/optimized/flash_attention_score_grad.hpp"
#include "trial.hpp"

namespace {

using namespace assay;
using spec::DType;
using spec::Layout;
using spec::MaskShape;
using spec::Striding;
using test::Example;
using test::expect_gradients;
using test::Op;
using test::run;
using test::same_bits;

Op::Problem small(Layout layout, DType dtype) {
  return {.input_layout = layout,
          .dtype = dtype,
          .batch = 2,
          .heads_q = 4,
          .heads_kv = 2,
          .seq_q = 21,
          .seq_kv = 37,
          .head_dim = 24,
          .head_dim_v = 24,
          .scale_value = 0.25};
}

TEST(Gradient, AgreesWithTheFormulaInEveryLayoutAndType) {
  for (const Layout layout : {Layout::bsh, Layout::sbh, Layout::bsnd, Layout::bnsd})
    for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
      SCOPED_TRACE(std::string(to_string(layout)) + " " + std::string(to_string(dtype)));
      expect_gradients({.problem = small(layout, dtype)});
    }
}

TEST(Gradient, ReadsAndWritesStridedViews) {
  for (const Layout layout : {Layout::bsh, Layout::sbh, Layout::bsnd, Layout::bnsd})
    for (const Striding striding : {Striding::padded, Striding::transposed}) {
      Op::Problem problem = small(layout, DType::bf16);
      problem.atten_mask = MaskShape::ss;
      problem.sparse_mode = 1;
      expect_gradients({.problem = problem, .inputs = striding, .outputs = striding});
    }
}

TEST(Gradient, WritesNoByteOutsideTheViews) {
  Op::Problem problem = small(Layout::bsnd, DType::fp16);
  const Example example = {.problem = problem, .outputs = Striding::padded};
  const Op::Outputs outputs = run(example, test::inputs_of(example));
  for (const spec::Tensor* tensor : {&outputs.dq, &outputs.dk, &outputs.dv}) {
    std::vector<bool> viewed(tensor->bytes.size(), false);
    for (const std::int64_t element : spec::viewed_elements(*tensor))
      for (std::size_t k = 0; k < 2; ++k) viewed[static_cast<std::size_t>(element) * 2 + k] = true;
    for (std::size_t k = 0; k < viewed.size(); ++k)
      ASSERT_TRUE(viewed[k] || tensor->bytes[k] == std::byte{0xAB}) << "byte " << k;
  }
}

TEST(Gradient, TakesEveryHeadSizeAndANarrowerValue) {
  for (const std::int64_t d : {1, 2, 15, 16, 17, 33, 127, 128, 129, 200, 512, 768})
    for (const std::int64_t dv : {d, (d + 1) / 2, std::int64_t{1}}) {
      SCOPED_TRACE(std::to_string(d) + " and " + std::to_string(dv));
      expect_gradients({.problem = {.dtype = DType::fp32,
                                    .heads_q = 2,
                                    .seq_q = 9,
                                    .seq_kv = 12,
                                    .head_dim = d,
                                    .head_dim_v = dv,
                                    .scale_value = 1.0 / static_cast<double>(d)}});
    }
}

TEST(Gradient, TakesLengthsAroundTheEdgesOfTiles) {
  for (const std::int64_t sq : {1, 16, 127, 128, 129, 300})
    for (const std::int64_t skv : {2, 17, 128, 130, 257})
      expect_gradients(
          {.problem = {
               .dtype = DType::fp32, .seq_q = sq, .seq_kv = skv, .head_dim = 8, .head_dim_v = 8}});
}

TEST(Gradient, OneKeySumsDyInDvAndLeavesRoundingNoiseElsewhere) {
  const Example example = {
      .problem = {.dtype = DType::fp32, .seq_q = 300, .seq_kv = 1, .head_dim = 8, .head_dim_v = 8}};
  const Op::Inputs inputs = test::inputs_of(example);
  const test::Gradients g = test::values(example.problem, run(example, inputs));
  EXPECT_LT(test::error(g.dv, test::oracle(example, inputs).dv), 2e-6);
  for (const auto* gradient : {&g.dq, &g.dk})
    for (const double x : *gradient) ASSERT_LT(std::abs(x), 1e-5);
}

TEST(Gradient, SumsTheHeadsOfAGroupAcrossSeveralRecords) {
  expect_gradients({.problem = {.dtype = DType::fp32,
                                .heads_q = 3,
                                .heads_kv = 1,
                                .seq_q = 700,
                                .seq_kv = 150,
                                .head_dim = 4,
                                .head_dim_v = 4}});
}

TEST(Gradient, ReadsMasksOfEveryShapeAndType) {
  for (const MaskShape shape :
       {MaskShape::ss, MaskShape::one_one_ss, MaskShape::b_one_ss, MaskShape::bnss})
    for (const DType mask : {DType::boolean, DType::uint8})
      for (const std::int64_t mode : {0, 1})
        for (const Striding striding : {Striding::contiguous, Striding::transposed}) {
          Op::Problem problem = small(Layout::bnsd, DType::fp32);
          problem.atten_mask = shape, problem.mask_dtype = mask, problem.sparse_mode = mode;
          const auto scattered = [](std::int64_t b, std::int64_t n, std::int64_t i,
                                    std::int64_t j) {
            return (7 * b + 5 * n + 3 * i + j) % 4 == 0;
          };
          expect_gradients({.problem = problem, .inputs = striding, .excludes = scattered});
        }
}

TEST(Gradient, MovesTheCompressedMaskWithTheDiagonal) {
  for (const std::int64_t mode : {2, 3})
    for (const auto& [sq, skv] :
         {std::pair{150, 150}, {130, 270}, {270, 130}, {5, 300}, {300, 5}}) {
      SCOPED_TRACE(std::to_string(mode) + ": " + std::to_string(sq) + " x " + std::to_string(skv));
      expect_gradients({.problem = {.dtype = DType::fp32,
                                    .seq_q = sq,
                                    .seq_kv = skv,
                                    .head_dim = 8,
                                    .head_dim_v = 8,
                                    .sparse_mode = mode,
                                    .atten_mask = MaskShape::compressed}});
    }
}

TEST(Gradient, CutsABandFromTheCompressedMask) {
  for (const auto& [sq, skv] : {std::pair{150, 150}, {130, 270}, {270, 130}})
    for (const auto& [pre, next] :
         {std::pair{40, 20}, {1, 0}, {150, -30}, {-20, 90}, {5000, 5000}}) {
      SCOPED_TRACE(std::to_string(pre) + ", " + std::to_string(next) + ": " + std::to_string(sq) +
                   " x " + std::to_string(skv));
      const std::int64_t before = pre, after = next;
      expect_gradients({.problem = {.dtype = DType::fp32,
                                    .seq_q = sq,
                                    .seq_kv = skv,
                                    .head_dim = 8,
                                    .head_dim_v = 8,
                                    .sparse_mode = 4,
                                    .pre_tokens = before,
                                    .next_tokens = after,
                                    .atten_mask = MaskShape::compressed}});
    }
}

TEST(Gradient, SkipsBlocksOutsideTheTokensOfModeZero) {
  for (const auto& [pre, next] : {std::pair{40, 20}, {400, 0}, {0, 400}, {200, -100}, {-50, 90}}) {
    const std::int64_t before = pre, after = next;
    expect_gradients({.problem = {.dtype = DType::fp32,
                                  .seq_q = 280,
                                  .seq_kv = 300,
                                  .head_dim = 8,
                                  .head_dim_v = 8,
                                  .pre_tokens = before,
                                  .next_tokens = after,
                                  .atten_mask = MaskShape::ss},
                      .excludes = [=](auto, auto, std::int64_t i, std::int64_t j) {
                        return j < i - before || j > i + after;
                      }});
  }
}

TEST(Gradient, IgnoresModeAndTokensWithoutAMask) {
  for (std::int64_t mode = 0; mode <= 6; ++mode)
    expect_gradients({.problem = {.dtype = DType::fp32,
                                  .seq_q = 140,
                                  .seq_kv = 150,
                                  .head_dim = 8,
                                  .head_dim_v = 8,
                                  .sparse_mode = mode,
                                  .pre_tokens = 3,
                                  .next_tokens = 2}});
}

TEST(Gradient, IsExactlyZeroInFullyMaskedRowsAndUnattendedKeys) {
  const Example example = {
      .problem = {.dtype = DType::fp32,
                  .seq_q = 40,
                  .seq_kv = 30,
                  .head_dim = 8,
                  .head_dim_v = 8,
                  .sparse_mode = 1,
                  .atten_mask = MaskShape::ss},
      .excludes = [](auto, auto, std::int64_t i, std::int64_t j) { return i < 12 || j >= 25; }};
  const Op::Inputs inputs = test::inputs_of(example);
  const test::Gradients g = test::values(example.problem, run(example, inputs));
  for (std::size_t k = 0; k < 12 * 8; ++k) EXPECT_EQ(g.dq[k], 0);
  for (std::size_t k = 25 * 8; k < 30 * 8; ++k) EXPECT_EQ(g.dk[k] + g.dv[k], 0);
  EXPECT_NE(g.dq[12 * 8], 0);
}

TEST(Gradient, KeepsAMaskedNanOutOfTheGradients) {
  const Example example = {.problem = {.dtype = DType::fp32,
                                       .seq_q = 8,
                                       .seq_kv = 8,
                                       .head_dim = 4,
                                       .head_dim_v = 4,
                                       .sparse_mode = 2,
                                       .atten_mask = MaskShape::compressed}};
  Op::Inputs inputs = test::inputs_of(example);
  const test::Gradients clean = test::values(example.problem, run(example, inputs));
  inputs.query.store(0, std::numeric_limits<double>::quiet_NaN());
  const test::Gradients g = test::values(example.problem, run(example, inputs));
  for (std::size_t k = 4; k < g.dv.size(); ++k) EXPECT_EQ(g.dv[k], clean.dv[k]);
  EXPECT_TRUE(std::isnan(g.dv[0]));
}

TEST(Gradient, EmptyProblemFillsTheOtherGradientsWithZeros) {
  for (const auto& [sq, skv] : {std::pair{0, 9}, {9, 0}}) {
    Example example = {.problem = {.dtype = DType::bf16, .seq_q = sq, .seq_kv = skv},
                       .outputs = Striding::padded};
    const Op::Outputs outputs = run(example, test::inputs_of(example));
    const test::Gradients g = test::values(example.problem, outputs);
    EXPECT_EQ(g.dq.size() + g.dk.size() + g.dv.size(), sq == 0 ? 2 * 9 * 16 : 9 * 16);
    for (const auto* gradient : {&g.dq, &g.dk, &g.dv})
      for (const double x : *gradient) ASSERT_EQ(x, 0);
  }
}

Example varied(DType dtype) {
  return {.problem = {.input_layout = Layout::bsh,
                      .dtype = dtype,
                      .batch = 2,
                      .heads_q = 4,
                      .heads_kv = 2,
                      .seq_q = 200,
                      .seq_kv = 261,
                      .head_dim = 24,
                      .head_dim_v = 17,
                      .sparse_mode = 3,
                      .atten_mask = MaskShape::compressed}};
}

TEST(Gradient, HasTheSameBitsForEveryNumberOfThreadsAndEveryInstructionSet) {
  for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
    const Example example = varied(dtype);
    const Op::Inputs inputs = test::inputs_of(example);
    const Op::Outputs expected = run(example, inputs, {.threads = 1});
    for (const optimized::Options& options : test::ways_to_run({2, 3, 4}))
      EXPECT_TRUE(same_bits(run(example, inputs, options), expected)) << test::printed(options);
  }
}

TEST(Gradient, HasTheSameBitsWhenTheSameObjectRunsAgain) {
  const Example large = varied(DType::bf16);
  const Example little = {.problem = small(Layout::sbh, DType::bf16)};
  const auto implementation = optimized::flash_attention_score_grad(device::a3());
  const Op::Inputs large_inputs = test::inputs_of(large), little_inputs = test::inputs_of(little);
  Op::Outputs outputs = test::outputs_of(large);
  implementation->run(large.problem, large_inputs, outputs);
  Op::Outputs between = test::outputs_of(little);
  implementation->run(little.problem, little_inputs, between);
  Op::Outputs again = test::outputs_of(large);
  implementation->run(large.problem, large_inputs, again);
  EXPECT_TRUE(same_bits(outputs, again));
  EXPECT_TRUE(same_bits(between, run(little, little_inputs)));
}

}  // namespace
