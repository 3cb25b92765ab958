#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::test {

using Op = spec::FlashAttentionScoreGrad;

/// What a test asks for: a problem, how its tensors are strided, and which elements the caller's
/// mask excludes.
struct Example {
  Op::Problem problem;
  spec::Striding inputs = spec::Striding::contiguous, outputs = spec::Striding::contiguous;
  /// Of modes 0 and 1; the compressed masks are canonical.
  std::function<bool(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j)> excludes =
      [](auto, auto, std::int64_t i, std::int64_t j) { return j > i; };
};

/// Random tensors with the statistics and the output that a forward in double gives.
Op::Inputs inputs_of(const Example& example);
/// Outputs whose storage is full of 0xAB.
Op::Outputs outputs_of(const Example& example);

/// Gradients in double by the formulas, pair by pair; each as (b, n, s, d).
struct Gradients {
  std::vector<double> dq, dk, dv;
};
Gradients oracle(const Example& example, const Op::Inputs& inputs);

/// The viewed elements of an output as (b, n, s, d).
std::vector<double> values(const spec::Tensor& tensor, spec::Layout layout,
                           const spec::Extents& extents);
Gradients values(const Op::Problem& problem, const Op::Outputs& outputs);

/// Largest difference as a share of the largest magnitude of `expected`.
double error(const std::vector<double>& actual, const std::vector<double>& expected);

}  // namespace assay::test
