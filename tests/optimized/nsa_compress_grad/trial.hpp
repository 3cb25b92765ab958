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

/// Returns a problem with sequences of these lengths. `size` and `stride` describe the windows.
Op::Problem problem_of(std::vector<std::int64_t> lengths, std::int64_t size, std::int64_t stride);

/// Returns the number of windows in a sequence, by trying every start.
std::int64_t windows_within(std::int64_t length, std::int64_t size, std::int64_t stride);
std::int64_t windows_within(const Op::Problem& problem);

/// Returns random tensors. `zeros` returns tensors with the same shapes and strides in which all
/// elements are 0.
Op::Inputs inputs_of(const Example& example);
Op::Inputs zeros(const Example& example);
/// Returns output tensors with a storage that is filled with the byte 0xAB.
Op::Outputs outputs_of(const Example& example);
/// Runs the implementation on the modelled Ascend A2, and returns its outputs.
Op::Outputs run(const Example& example, const Op::Inputs& inputs,
                const optimized::Options& options = {});

/// The elements of both gradients in the row-major order of the tensors, independent of their
/// strides.
struct Gradients {
  std::vector<double> input_grad, weight_grad;
};
std::vector<double> values(const spec::Tensor& tensor);
Gradients values(const Op::Outputs& outputs);

/// The expected gradients, computed by the formulas window by window, and for each element the sum
/// of the magnitudes of its terms.
struct Expected {
  Gradients values, magnitudes;
};
Expected oracle(const Op::Problem& problem, const Op::Inputs& inputs);

/// Expects the gradients of the formulas. Each element may have the error of one rounding to the
/// output type, and of the roundings in its fp32 sum.
void expect_gradients(const Example& example);

bool same_bits(const Op::Outputs& x, const Op::Outputs& y);

}  // namespace assay::test::compress
