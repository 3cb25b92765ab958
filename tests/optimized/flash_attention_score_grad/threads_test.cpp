#include <gtest/gtest.h>

#include "../failing_kernels.hpp"
#include "attention/forward.hpp"
#include "flash_attention_score_grad/kernel.hpp"
#include "scarce_threads.hpp"
#include "trial.hpp"

/// Tests the gradient and the forward pass if threads cannot be started, and if one thread fails.
namespace {

using namespace assay;
using test::Example;
using test::Op;
using test::same_bits;
using test::ScarceThreads;

/// Returns a problem with enough work for several threads, some of which add to the same keys.
Example varied() {
  return {.problem = {.dtype = spec::DType::bf16,
                      .batch = 2,
                      .heads_q = 4,
                      .heads_kv = 2,
                      .seq_q = 200,
                      .seq_kv = 261,
                      .head_dim = 24,
                      .head_dim_v = 17,
                      .sparse_mode = 3,
                      .atten_mask = spec::MaskShape::compressed,
                      .sink = spec::SinkShape::per_head}};
}

Op::Inputs forward(const Example& example, const optimized::Options& options) {
  Op::Inputs inputs = test::inputs_without_forward(example);
  optimized::flash_attention_score_grad(device::a2(), options)->forward(example.problem, inputs);
  return inputs;
}

TEST(Gradient, NeedsNoThreadThatTheMachineRefuses) {
  const Example example = varied();
  const Op::Inputs inputs = test::inputs_of(example);
  const Op::Outputs expected = run(example, inputs, {.threads = 1});
  for (const int startable : {3, 1, 0}) {
    const ScarceThreads machine(startable);
    EXPECT_TRUE(same_bits(run(example, inputs, {.threads = 5}), expected)) << startable;
    EXPECT_GT(machine.refused(), 0);
  }
}

TEST(Forward, NeedsNoThreadThatTheMachineRefuses) {
  const Example example = varied();
  const Op::Inputs expected = forward(example, {.threads = 1});
  for (const int startable : {0, 1}) {
    const ScarceThreads machine(startable);
    const Op::Inputs inputs = forward(example, {.threads = 5});
    EXPECT_GT(machine.refused(), 0);
    EXPECT_EQ(inputs.softmax_max.bytes, expected.softmax_max.bytes);
    EXPECT_EQ(inputs.softmax_sum.bytes, expected.softmax_sum.bytes);
    EXPECT_EQ(inputs.attention_in.bytes, expected.attention_in.bytes);
  }
}

/// If the work on one key tile fails, other threads may be waiting for their turn to add to this
/// tile. They must end, too.
TEST(Gradient, ThrowsWhatOneOfItsThreadsThrows) {
  const Example example = varied();
  const Op::Inputs inputs = test::inputs_of(example);
  const optimized::Tiling tiling = optimized::plan(example.problem, device::a2());
  Op::Outputs outputs = test::outputs_of(example);
  optimized::Workspace workspace;
  const auto run_with = [&](const optimized::tile::Kernels& kernels, std::int64_t threads) {
    optimized::compute_gradient(
        example.problem, inputs, outputs,
        {.tiling = tiling, .kernels = kernels, .workspace = workspace, .threads = threads});
  };
  EXPECT_GT(test::failed_runs(run_with), 15);
  EXPECT_TRUE(same_bits(outputs, run(example, inputs, {.threads = 1})))
      << "the successful runs must have the same bits";
}

TEST(Forward, ThrowsWhatOneOfItsThreadsThrows) {
  const Example example = varied();
  const optimized::Tiling tiling = optimized::plan(example.problem, device::a2());
  Op::Inputs inputs = test::inputs_without_forward(example);
  const auto run_with = [&](const optimized::tile::Kernels& kernels, std::int64_t threads) {
    optimized::compute_forward(example.problem, inputs,
                               {inputs.softmax_max, inputs.softmax_sum, inputs.attention_in},
                               tiling, kernels, threads);
  };
  EXPECT_GT(test::failed_runs(run_with), 15);
}

}  // namespace
