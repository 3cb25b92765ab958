#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "../tensors.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::test {

using Op = spec::FlashAttentionScoreGrad;

/// The input of a test: a problem, the strides of its tensors, and a function that says which
/// elements the caller's mask excludes.
struct Example {
  Op::Problem problem;
  spec::Striding inputs = spec::Striding::contiguous, outputs = spec::Striding::contiguous;
  /// This function is used in sparse modes 0, 1 and 5. In other modes the mask has the contents
  /// that the documentation prescribes.
  std::function<bool(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j)> excludes =
      [](auto, auto, std::int64_t i, std::int64_t j) { return j > i; };
};

/// One score.
struct Pair {
  std::int64_t b, n, i, j;
};

/// The documented properties of one score: whether it is unmasked, its bias, and whether dropout
/// drops it. These functions use only the indices of the score, not the tensors.
bool kept(const Example& example, const Pair& pair);
double bias(const Op::Problem& problem, const Pair& pair);
bool dropped(const Pair& pair);
/// The compressed bias, which depends on the head and on the distance of query and key, and the
/// slope of a head for pse_type 2 and 3. All values are bf16 numbers.
double bias_of_distance(std::int64_t b, std::int64_t n, std::int64_t distance);
double slope(std::int64_t b, std::int64_t n);
/// A bias in (-2, 2) that depends on the indices of the pair, as a bf16 number.
double bias_of_pair(const Pair& pair);

/// Makes random tensors, with the statistics and the output of a forward pass in double. If the
/// problem has a sink, the forward pass uses it.
Op::Inputs inputs_of(const Example& example);
/// Makes output tensors with a storage that is filled with the byte 0xAB.
Op::Outputs outputs_of(const Example& example);

/// Makes random operands, mask and bias. softmax_max, softmax_sum and attention_in are filled with
/// zeros.
Op::Inputs inputs_without_forward(const Example& example);
/// Returns the storage elements of softmax_max or softmax_sum that contain the equal copies for a
/// row.
std::vector<std::int64_t> statistics_elements(const Op::Problem& problem,
                                              const spec::Tensor& tensor, const Pair& row);

/// The expected gradients in double, computed by the formulas for each pair of query and key. Each
/// is contiguous in the order (b, n, s, d).
struct Gradients {
  std::vector<double> dq, dk, dv, dq_rope, dk_rope;
  std::vector<double> dsink = {};  ///< one number per query head
};
Gradients oracle(const Example& example, const Op::Inputs& inputs);

/// Returns the elements of an output's view in the order (b, n, s, d).
std::vector<double> values(const spec::Tensor& tensor, spec::Layout layout,
                           const spec::Extents& extents);
Gradients values(const Op::Problem& problem, const Op::Outputs& outputs);

}  // namespace assay::test
