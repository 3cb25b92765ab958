#pragma once

#include <functional>

#include "../tensors.hpp"
#include "assay/spec/operators/nsa_selected_attention_grad.hpp"

namespace assay::test::selected {

using Op = spec::NsaSelectedAttentionGrad;

/// An entry in the list of a token. The token is counted from the start of its sequence.
struct Entry {
  std::int64_t b, kv, token, slot;
};

/// The input of a test: a problem, the strides of its tensors, and the listed blocks.
struct Example {
  Op::Problem problem;
  spec::Striding inputs = spec::Striding::contiguous, outputs = spec::Striding::contiguous;
  /// If no block is given, the entries are any blocks of the sequence. The first entry is a block
  /// to which the token attends.
  std::function<std::int64_t(const Entry&)> block = {};
};

/// Random tensors, with the statistics and the output of a forward pass in double.
Op::Inputs inputs_of(const Example& example);
/// The same tensors with zeros in softmax_max, softmax_sum and attention_out.
Op::Inputs inputs_without_forward(const Example& example);
/// Outputs whose storage is filled with 0xAB.
Op::Outputs outputs_of(const Example& example);

/// The gradients in double by the formulas, entry by entry and key by key; each is stored as
/// (token, head, channel).
struct Gradients {
  std::vector<double> dq, dk, dv;
};
Gradients oracle(const Op::Problem& problem, const Op::Inputs& inputs);

/// The viewed elements in row-major order.
std::vector<double> values(const spec::Tensor& tensor);
Gradients values(const Op::Outputs& outputs);

/// Returns whether all bytes of all gradients are equal.
bool same_bits(const Op::Outputs& x, const Op::Outputs& y);

}  // namespace assay::test::selected
