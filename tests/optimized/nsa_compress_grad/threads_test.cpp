#include <gtest/gtest.h>

#include "../failing_kernels.hpp"
#include "assay/optimized/nsa_compress_grad.hpp"
#include "assay/optimized/nsa_compress_grad/tiling.hpp"
#include "nsa_compress_grad/kernel.hpp"
#include "scarce_threads.hpp"
#include "trial.hpp"

/// Tests the gradient if threads cannot be started, and if one thread fails.
namespace {

using namespace assay;
using namespace assay::test::compress;
using test::ScarceThreads;

/// Returns a problem with enough work for several threads.
Example varied() {
  Op::Problem problem = problem_of({300, 3, 0, 127, 400}, 128, 16);
  problem.heads = 4, problem.head_dim = 280;
  return {.problem = problem};
}

TEST(Compress, NeedsNoThreadThatTheMachineRefuses) {
  const Example example = varied();
  const Op::Inputs inputs = inputs_of(example);
  const Op::Outputs expected = run(example, inputs, {.threads = 1});
  for (const int startable : {3, 1, 0}) {
    const ScarceThreads machine(startable);
    EXPECT_TRUE(same_bits(run(example, inputs, {.threads = 5}), expected)) << startable;
    EXPECT_GT(machine.refused(), 0);
  }
}

TEST(Compress, ThrowsWhatOneOfItsThreadsThrows) {
  const Example example = varied();
  const Op::Inputs inputs = inputs_of(example);
  const auto tiling = optimized::compress::plan(example.problem, device::a2());
  Op::Outputs outputs = outputs_of(example);
  optimized::compress::Workspace workspace;
  const auto run_with = [&](const optimized::tile::Kernels& kernels, std::int64_t threads) {
    optimized::compress::compute_gradient(
        example.problem, inputs, outputs,
        {.tiling = tiling, .kernels = kernels, .workspace = workspace, .threads = threads});
  };
  EXPECT_GT(test::failed_runs(run_with), 10);
  EXPECT_TRUE(same_bits(outputs, run(example, inputs, {.threads = 1})))
      << "the successful runs must have the same bits";
}

}  // namespace
