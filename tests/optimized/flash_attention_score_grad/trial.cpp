#include "trial.hpp"

#include <gtest/gtest.h>

namespace assay::test {
namespace {

/// Returns the tolerance relative to the largest element. With 16-bit types P, dS and the result
/// are rounded, each with a relative error of 2^-8 (bf16) or 2^-11 (fp16).
double tolerance(spec::DType dtype) {
  return dtype == spec::DType::fp32 ? 3e-6 : dtype == spec::DType::fp16 ? 2e-3 : 1.6e-2;
}

}  // namespace

Op::Outputs run(const Example& example, const Op::Inputs& inputs,
                const optimized::Options& options) {
  Op::Outputs outputs = outputs_of(example);
  optimized::flash_attention_score_grad(device::a2(), options)
      ->run(example.problem, inputs, outputs);
  return outputs;
}

void expect_gradients(const Example& example, const optimized::Options& options) {
  const Op::Inputs inputs = inputs_of(example);
  const Gradients expected = oracle(example, inputs);
  const Gradients actual = values(example.problem, run(example, inputs, options));
  const double limit = tolerance(example.problem.dtype);
  EXPECT_LT(error(actual.dq, expected.dq), limit);
  EXPECT_LT(error(actual.dk, expected.dk), limit);
  EXPECT_LT(error(actual.dv, expected.dv), limit);
  EXPECT_LT(error(actual.dq_rope, expected.dq_rope), limit);
  EXPECT_LT(error(actual.dk_rope, expected.dk_rope), limit);
  // No factor of dsink is rounded to 16 bits, so the tolerance of fp32 applies.
  EXPECT_LT(error(actual.dsink, expected.dsink), tolerance(spec::DType::fp32));
}

bool same_bits(const Op::Outputs& x, const Op::Outputs& y) {
  const auto bytes = [](const std::optional<spec::Tensor>& tensor) {
    return tensor ? tensor->bytes : spec::Storage();
  };
  return x.dq.bytes == y.dq.bytes && x.dk.bytes == y.dk.bytes && x.dv.bytes == y.dv.bytes &&
         bytes(x.dq_rope) == bytes(y.dq_rope) && bytes(x.dk_rope) == bytes(y.dk_rope) &&
         bytes(x.dsink) == bytes(y.dsink);
}

}  // namespace assay::test
