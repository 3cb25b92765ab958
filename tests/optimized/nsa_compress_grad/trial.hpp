#pragma once

#include <cstdint>
#include <vector>

#include "assay/optimized/nsa_compress_grad.hpp"
#include "assay/spec/striding.hpp"

namespace assay::test::compress {

using Op = spec::NsaCompressGrad;

/// The input of a test: a problem, and the strides of its tensors.
struct Example {
  Op::Problem problem;
  spec::Striding inputs = spec::Striding::contiguous, outputs = spec::Striding::contiguous;
};

/// A problem with sequences of these lengths.
Op::Problem problem_of(std::vector<std::int64_t> lengths, std::int64_t size, std::int64_t stride);

/// Counts the windows of a sequence by trying every start.
std::int64_t windows_within(std::int64_t length, std::int64_t size, std::int64_t stride);
std::int64_t windows_within(const Op::Problem& problem);

/// Random tensors. `zeros` returns the same shapes and strides with all elements 0.
Op::Inputs inputs_of(const Example& example);
Op::Inputs zeros(const Example& example);
/// Outputs whose storage is filled with 0xAB.
Op::Outputs outputs_of(const Example& example);
/// Runs the implementation on the modelled A2. Returns its outputs.
Op::Outputs run(const Example& example, const Op::Inputs& inputs,
                const optimized::Options& options = {});

/// The elements of both gradients in row-major order of the tensors, whatever their strides are.
struct Gradients {
  std::vector<double> input_grad, weight_grad;
};
std::vector<double> values(const spec::Tensor& tensor);
Gradients values(const Op::Outputs& outputs);

/// The gradients by the formulas, window by window, and the sums of the magnitudes of their terms.
struct Expected {
  Gradients values, magnitudes;
};
Expected oracle(const Op::Problem& problem, const Op::Inputs& inputs);

/// Each element may differ from the formula by one rounding of the output plus that of fp32 sums.
void expect_gradients(const Example& example);

bool same_bits(const Op::Outputs& x, const Op::Outputs& y);

}  // namespace assay::test::compress
