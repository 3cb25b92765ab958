#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "assay/reference/real.hpp"
#include "assay/spec/operators/flash_attention_score.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"
#include "assay/spec/tensor.hpp"

namespace assay::reference {

/// The input tensors as dense arrays in arithmetic of type Real, with rows in the order of
/// `spec::Extents::row`. The statistics and attention_in are stored as Real, so that the gradient
/// can use unrounded results of a forward pass. The forward pass itself reads neither these arrays
/// nor dy.
template <class Real>
struct Operands {
  std::vector<Real> query, key, value, dy = {};
  std::vector<Real> softmax_max = {}, softmax_sum = {};  ///< one per query row
  std::vector<Real> attention_in = {};
  std::vector<Real> query_rope = {}, key_rope = {};  ///< empty if head_dim_rope is 0
  std::vector<Real> sink = {};                       ///< one per query head; empty: no sink
  friend bool operator==(const Operands&, const Operands&) = default;
};

/// Converts the tensors of a call to dense arrays, without rounding: float represents every element
/// type. The statistics are stored as equal copies (replicas); this function reads the first copy,
/// in the problem's memory order.
/// Errors: std::invalid_argument if a tensor's shape does not match `problem`, or if a rope tensor
/// or the sink is missing.
template <class Real>
Operands<Real> operands_of(const spec::AttentionProblem& problem,
                           const spec::FlashAttentionScoreGrad::Inputs& inputs);
template <class Real>
Operands<Real> operands_of(const spec::AttentionProblem& problem,
                           const spec::FlashAttentionScore::Inputs& inputs);

/// The rows of a tensor, in the order of `spec::Extents::row`. They are read when they are used, so
/// that a large tensor is not in memory twice. Keeps a reference to the tensor.
class TensorRows {
 public:
  TensorRows() = default;
  /// Errors: std::invalid_argument if the tensor's shape does not match `extents` in this layout.
  TensorRows(const spec::Tensor& tensor, spec::Layout layout, const spec::Extents& extents)
      : view_(std::in_place, tensor, layout, extents) {}
  TensorRows(spec::Tensor&& tensor, spec::Layout layout, const spec::Extents& extents) = delete;

  /// Reads row number `index`, without rounding. `values` has one element for each channel.
  void read(std::int64_t index, std::span<double> values) const;

 private:
  std::optional<spec::HeadView> view_;
};

/// The same as Operands, for large tensors. Refers to the tensors; copies statistics and sinks.
struct TensorOperands {
  TensorRows query, key, value, dy = {};
  std::vector<float> softmax_max = {}, softmax_sum = {};
  TensorRows attention_in = {}, query_rope = {}, key_rope = {};
  std::vector<float> sink = {};
};
/// Errors: the errors of operands_of.
TensorOperands tensor_operands_of(const spec::AttentionProblem& problem,
                                  const spec::FlashAttentionScoreGrad::Inputs& inputs);
TensorOperands tensor_operands_of(const spec::AttentionProblem& problem,
                                  const spec::FlashAttentionScore::Inputs& inputs);

/// Reads softmax_max or softmax_sum of every query row, in the order of `spec::Extents::row`. The
/// tensor stores equal copies (replicas) of each number; this function returns the first. In TND,
/// the problem's statistics_order gives the memory order.
/// Errors: std::invalid_argument if the tensor's shape does not match `problem`.
template <class Real>
std::vector<Real> statistics_of(const spec::Tensor& tensor, const spec::AttentionProblem& problem);

/// Returns the rope tensor, which a problem with head_dim_rope > 0 must have.
/// Errors: std::invalid_argument if the tensor is missing.
const spec::Tensor& rope_tensor(const std::optional<spec::Tensor>& tensor);

}  // namespace assay::reference
