#include "trial.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace assay::test::compress {
namespace {

spec::Tensor tensor_of(const spec::Parameter& parameter, std::byte fill) {
  spec::Tensor tensor{.dtype = parameter.dtype,
                      .shape = parameter.shape,
                      .strides = parameter.strides,
                      .offset = parameter.offset,
                      .bytes = {}};
  const std::int64_t elements = spec::storage_elements(tensor.shape, tensor.strides, tensor.offset);
  tensor.bytes.assign(static_cast<std::size_t>(elements * spec::size_of(tensor.dtype)), fill);
  return tensor;
}

void randomize(spec::Tensor& tensor, std::uint32_t seed) {
  for (const std::int64_t element : spec::viewed_elements(tensor)) {
    seed = seed * 1664525U + 1013904223U;
    tensor.store(element, static_cast<std::int32_t>(seed) * 0x1p-30);
  }
}

spec::Call<Op> call_of(const Example& example) {
  return spec::call_of(example.problem, spec::CompressEntryPoint::c1, spec::Product::a2,
                       example.inputs, example.outputs);
}

/// Calls visit(window row, token, weight) for every term of the sums.
template <class Visit>
void visit_terms(const Op::Problem& p, const Visit& visit) {
  std::int64_t base = 0, row = 0;
  for (std::int64_t b = 0; b < p.batch; base += p.length(b++))
    for (std::int64_t i = 0;
         i < windows_within(p.length(b), p.compress_block_size, p.compress_stride); ++i, ++row)
      for (std::int64_t w = 0; w < p.compress_block_size; ++w)
        visit(row, base + i * p.compress_stride + w, w);
}

void expect_close(const std::vector<double>& actual, const std::vector<double>& expected,
                  const std::vector<double>& magnitudes, spec::DType dtype) {
  const spec::FloatFormat format = spec::format_of(dtype);
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t k = 0; k < actual.size(); ++k) {
    const double rounding = std::abs(expected[k]) * std::ldexp(1, -format.significand_bits) +
                            std::ldexp(1, format.min_exponent - format.significand_bits);
    ASSERT_LE(std::abs(actual[k] - expected[k]), 1.001 * rounding + 4e-6 * magnitudes[k]) << k;
  }
}

}  // namespace

Op::Problem problem_of(std::vector<std::int64_t> lengths, std::int64_t size, std::int64_t stride) {
  Op::Problem problem{.batch = static_cast<std::int64_t>(lengths.size()),
                      .seq = std::ranges::max(lengths),
                      .compress_block_size = size,
                      .compress_stride = stride};
  problem.lengths = std::move(lengths);
  return problem;
}

std::int64_t windows_within(std::int64_t length, std::int64_t size, std::int64_t stride) {
  std::int64_t windows = 0;
  while (windows * stride + size <= length) ++windows;
  return windows;
}

std::int64_t windows_within(const Op::Problem& p) {
  std::int64_t windows = 0;
  for (std::int64_t b = 0; b < p.batch; ++b)
    windows += windows_within(p.length(b), p.compress_block_size, p.compress_stride);
  return windows;
}

Op::Inputs zeros(const Example& example) {
  const Op::Parameters p = call_of(example).parameters;
  return {.output_grad = tensor_of(p.output_grad, std::byte{0}),
          .input = tensor_of(p.input, std::byte{0}),
          .weight = tensor_of(p.weight, std::byte{0})};
}

Op::Inputs inputs_of(const Example& example) {
  Op::Inputs inputs = zeros(example);
  randomize(inputs.output_grad, 1);
  randomize(inputs.input, 2);
  randomize(inputs.weight, 3);
  return inputs;
}

Op::Outputs outputs_of(const Example& example) {
  const Op::Parameters p = call_of(example).parameters;
  return {.input_grad = tensor_of(p.input_grad, std::byte{0xAB}),
          .weight_grad = tensor_of(p.weight_grad, std::byte{0xAB})};
}

Op::Outputs run(const Example& example, const Op::Inputs& inputs,
                const optimized::Options& options) {
  Op::Outputs outputs = outputs_of(example);
  optimized::nsa_compress_grad(device::a2(), options)->run(example.problem, inputs, outputs);
  return outputs;
}

std::vector<double> values(const spec::Tensor& tensor) {
  std::vector<double> numbers;
  for (const std::int64_t element : spec::viewed_elements(tensor))
    numbers.push_back(tensor.load(element));
  return numbers;
}

Gradients values(const Op::Outputs& outputs) {
  return {values(outputs.input_grad), values(outputs.weight_grad)};
}

Expected oracle(const Op::Problem& p, const Op::Inputs& inputs) {
  const std::vector<double> output_grad = values(inputs.output_grad), input = values(inputs.input),
                            weight = values(inputs.weight);
  Expected expected;
  for (Gradients* all : {&expected.values, &expected.magnitudes}) {
    all->input_grad.assign(input.size(), 0);
    all->weight_grad.assign(weight.size(), 0);
  }
  visit_terms(p, [&](std::int64_t row, std::int64_t token, std::int64_t w) {
    for (std::int64_t n = 0; n < p.heads; ++n)
      for (std::int64_t c = 0; c < p.head_dim; ++c) {
        const auto x = static_cast<std::size_t>((token * p.heads + n) * p.head_dim + c);
        const auto g = static_cast<std::size_t>((row * p.heads + n) * p.head_dim + c);
        const auto k = static_cast<std::size_t>(w * p.heads + n);
        expected.values.input_grad[x] += weight[k] * output_grad[g];
        expected.magnitudes.input_grad[x] += std::abs(weight[k] * output_grad[g]);
        expected.values.weight_grad[k] += output_grad[g] * input[x];
        expected.magnitudes.weight_grad[k] += std::abs(output_grad[g] * input[x]);
      }
  });
  return expected;
}

void expect_gradients(const Example& example) {
  const Op::Inputs inputs = inputs_of(example);
  const Expected expected = oracle(example.problem, inputs);
  const Gradients actual = values(run(example, inputs));
  const spec::DType dtype = example.problem.dtype;
  expect_close(actual.input_grad, expected.values.input_grad, expected.magnitudes.input_grad,
               dtype);
  expect_close(actual.weight_grad, expected.values.weight_grad, expected.magnitudes.weight_grad,
               dtype);
}

bool same_bits(const Op::Outputs& x, const Op::Outputs& y) {
  return x.input_grad.bytes == y.input_grad.bytes && x.weight_grad.bytes == y.weight_grad.bytes;
}

}  // namespace assay::test::compress
