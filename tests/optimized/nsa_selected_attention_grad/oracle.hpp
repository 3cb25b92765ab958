#pragma once

#include <functional>

#include "../tensors.hpp"
#include "assay/spec/operators/nsa_selected_attention_grad.hpp"

namespace assay::test::selected {

using Op = spec::NsaSelectedAttentionGrad;

/// An entry in the block list of a token. Tokens are counted from the start of their sequence.
struct Entry {
  std::int64_t b, kv, token, slot;
};

/// The input of a test: a problem, the strides of its tensors, and a function that gives the listed
/// blocks.
struct Example {
  Op::Problem problem;
  spec::Striding inputs = spec::Striding::contiguous, outputs = spec::Striding::contiguous;
  /// Returns the block of a list entry. If this function is empty, the entries are arbitrary blocks
  /// of the sequence, but the token attends to the block of the first entry.
  std::function<std::int64_t(const Entry&)> block = {};
};

/// Returns random tensors, with the statistics and the output of a forward pass in double.
Op::Inputs inputs_of(const Example& example);
/// Returns the same tensors with zeros in softmax_max, softmax_sum and attention_out.
Op::Inputs inputs_without_forward(const Example& example);
/// Returns output tensors with a storage that is filled with the byte 0xAB.
Op::Outputs outputs_of(const Example& example);

/// The expected gradients in double, computed by the formulas for each list entry and key. Each is
/// stored in the order (token, head, channel).
struct Gradients {
  std::vector<double> dq, dk, dv;
};
Gradients oracle(const Op::Problem& problem, const Op::Inputs& inputs);

/// Returns the elements of a view in row-major order.
std::vector<double> values(const spec::Tensor& tensor);
Gradients values(const Op::Outputs& outputs);

/// Returns whether all bytes of all gradients are equal.
bool same_bits(const Op::Outputs& x, const Op::Outputs& y);

}  // namespace assay::test::selected
