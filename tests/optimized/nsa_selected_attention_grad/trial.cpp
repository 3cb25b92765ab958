#include "trial.hpp"

#include <gtest/gtest.h>

namespace assay::test::selected {

Op::Problem small_problem(spec::DType dtype, std::int64_t heads_q) {
  return {.dtype = dtype,
          .batch = 2,
          .heads_q = heads_q,
          .heads_kv = 2,
          .seq_q = 37,
          .seq_kv = 96,
          .lengths_q = {37, 20},
          .lengths_kv = {64, 96},
          .selected_block_size = 16,
          .selected_block_count = 3};
}

Op::Problem causal(Op::Problem problem) {
  problem.sparse_mode = 2, problem.atten_mask = spec::SelectedMask::compressed;
  return problem;
}

Op::Outputs run(const Example& example, const Op::Inputs& inputs,
                const optimized::Options& options) {
  Op::Outputs outputs = outputs_of(example);
  optimized::nsa_selected_attention_grad(device::a2(), options)
      ->run(example.problem, inputs, outputs);
  return outputs;
}

void expect_gradients(const Example& example) {
  const Op::Inputs inputs = inputs_of(example);
  const Gradients expected = oracle(example.problem, inputs);
  const Gradients actual = values(run(example, inputs));
  const double limit = example.problem.dtype == spec::DType::fp16 ? 2e-3 : 1.6e-2;
  EXPECT_LT(error(actual.dq, expected.dq), limit);
  EXPECT_LT(error(actual.dk, expected.dk), limit);
  EXPECT_LT(error(actual.dv, expected.dv), limit);
}

}  // namespace assay::test::selected
