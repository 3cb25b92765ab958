#pragma once

#include <functional>

#include "../tensors.hpp"
#include "assay/spec/operators/nsa_selected_attention_grad.hpp"

namespace assay::test::selected {

using Op = spec::NsaSelectedAttentionGrad;

/// An entry of a list: of a token of a sequence, counted from the sequence's first.
struct Entry {
  std::int64_t b, kv, token, slot;
};

/// What a test asks for: a problem, how its tensors are strided, and the blocks that are listed.
struct Example {
  Op::Problem problem;
  spec::Striding inputs = spec::Striding::contiguous, outputs = spec::Striding::contiguous;
  /// Unset: any block of the sequence, the first entry one that the token sees.
  std::function<std::int64_t(const Entry&)> block = {};
};

/// Random tensors with the statistics and the output that a forward in double gives.
Op::Inputs inputs_of(const Example& example);
/// The same with zeros in softmax_max, softmax_sum and attention_out.
Op::Inputs inputs_without_forward(const Example& example);
/// Outputs whose storage is full of 0xAB.
Op::Outputs outputs_of(const Example& example);

/// Gradients in double by the formulas, entry by entry and key by key; each as (token, head,
/// channel).
struct Gradients {
  std::vector<double> dq, dk, dv;
};
Gradients oracle(const Op::Problem& problem, const Op::Inputs& inputs);

/// The viewed elements in row-major order.
std::vector<double> values(const spec::Tensor& tensor);
Gradients values(const Op::Outputs& outputs);

/// Whether all bytes of all gradients are equal.
bool same_bits(const Op::Outputs& x, const Op::Outputs& y);

}  // namespace assay::test::selected
