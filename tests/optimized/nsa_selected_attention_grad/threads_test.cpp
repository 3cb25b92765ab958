#include <gtest/gtest.h>

#include "../failing_kernels.hpp"
#include "nsa_selected_attention_grad/kernel.hpp"
#include "scarce_threads.hpp"
#include "selection/forward.hpp"
#include "trial.hpp"

/// Tests the gradient and the forward pass if threads cannot be started, and if one thread fails.
namespace {

using namespace assay;
using test::ScarceThreads;
using test::selected::Example;
using test::selected::Op;
using test::selected::run;
using test::selected::same_bits;

/// Returns a problem with enough work for several threads.
Example varied() {
  return {.problem = {.dtype = spec::DType::fp16,
                      .batch = 2,
                      .heads_q = 34,
                      .heads_kv = 2,
                      .seq_q = 90,
                      .seq_kv = 96,
                      .lengths_q = {90, 50},
                      .lengths_kv = {64, 96},
                      .selected_block_size = 16,
                      .selected_block_count = 3}};
}

/// A small problem.
Example little() {
  Example example = varied();
  example.problem.heads_q = 4;
  return example;
}

Op::Inputs forward(const Example& example, const optimized::Options& options) {
  Op::Inputs inputs = inputs_without_forward(example);
  optimized::nsa_selected_attention_grad(device::a2(), options)->forward(example.problem, inputs);
  return inputs;
}

TEST(SelectedGradient, NeedsNoThreadThatTheMachineRefuses) {
  const Example example = varied();
  const Op::Inputs inputs = inputs_without_forward(example);
  const Op::Outputs expected = run(example, inputs, {.threads = 1});
  for (const int startable : {3, 1, 0}) {
    const ScarceThreads machine(startable);
    EXPECT_TRUE(same_bits(run(example, inputs, {.threads = 5}), expected)) << startable;
    EXPECT_GT(machine.refused(), 0);
  }
}

TEST(SelectedForward, NeedsNoThreadThatTheMachineRefuses) {
  const Example example = varied();
  const Op::Inputs expected = forward(example, {.threads = 1});
  for (const int startable : {0, 1}) {
    const ScarceThreads machine(startable);
    const Op::Inputs inputs = forward(example, {.threads = 5});
    EXPECT_GT(machine.refused(), 0);
    EXPECT_EQ(inputs.softmax_max.bytes, expected.softmax_max.bytes);
    EXPECT_EQ(inputs.softmax_sum.bytes, expected.softmax_sum.bytes);
    EXPECT_EQ(inputs.attention_out.bytes, expected.attention_out.bytes);
  }
}

/// If the work on one key block fails, other threads may be waiting for their turn to add to this
/// block. They must end, too.
TEST(SelectedGradient, ThrowsWhatOneOfItsThreadsThrows) {
  const Example example = little();
  const Op::Inputs inputs = inputs_without_forward(example);
  const auto tiling = optimized::selected::plan(example.problem, device::a2());
  Op::Outputs outputs = outputs_of(example);
  optimized::selected::Workspace workspace;
  const auto run_with = [&](const optimized::tile::Kernels& kernels, std::int64_t threads) {
    optimized::selected::compute_gradient(
        example.problem, inputs, outputs,
        {.tiling = tiling, .kernels = kernels, .workspace = workspace, .threads = threads});
  };
  EXPECT_GT(test::failed_runs(run_with), 15);
  EXPECT_TRUE(same_bits(outputs, run(example, inputs, {.threads = 1})))
      << "the successful runs must have the same bits";
}

TEST(SelectedForward, ThrowsWhatOneOfItsThreadsThrows) {
  const Example example = little();
  Op::Inputs inputs = inputs_without_forward(example);
  const auto run_with = [&](const optimized::tile::Kernels& kernels, std::int64_t threads) {
    optimized::selected::compute_forward(example.problem,
                                         {.query = inputs.query,
                                          .key = inputs.key,
                                          .value = inputs.value,
                                          .topk_indices = inputs.topk_indices,
                                          .softmax_max = inputs.softmax_max,
                                          .softmax_sum = inputs.softmax_sum,
                                          .attention_out = inputs.attention_out},
                                         "NSAS-C38", kernels, threads);
  };
  EXPECT_GT(test::failed_runs(run_with), 15);
}

}  // namespace
