#include "trial.hpp"

#include <gtest/gtest.h>

namespace assay::test::selected {

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
