#pragma once

#include <cstdint>
#include <vector>

#include "assay/reference/real.hpp"
#include "assay/spec/operators/nsa_compress_grad.hpp"

namespace assay::reference {

/// Dense operands in arithmetic of type Real; rows of input and output_grad lie in the order of
/// `spec::Extents::row`.
template <class Real>
struct CompressOperands {
  std::vector<Real> output_grad, input;
  std::vector<Real> weight;  ///< weight (w, n) at w * heads + n
  friend bool operator==(const CompressOperands&, const CompressOperands&) = default;
};

/// The operator's own tensors, densely and exactly.
/// Errors: std::invalid_argument for a tensor whose shape is not that of the problem.
template <class Real>
CompressOperands<Real> operands_of(const spec::NsaCompressGrad::Problem& problem,
                                   const spec::NsaCompressGrad::Inputs& inputs);

/// The forward from the definition: row (b, n, i) of the output is the sum over w of weight (w, n)
/// * input row (b, n, i * compress_stride + w). Reads no output_grad.
template <class Real>
std::vector<Real> forward(const spec::NsaCompressGrad::Problem& problem,
                          const CompressOperands<Real>& operands);

/// Gradient of the compression, computed from the definition in arithmetic of type Real (double,
/// Quad, Fifty, Wide), of operands kept in type Stored.
///
/// With i running over the windows of sequence b, c over head_dim and s the compress_stride,
///
///     input_grad (b, n, p) = sum over i and w with i s + w = p of
///                            weight (w, n) * output_grad (b, n, i)
///     weight_grad (w, n)   = sum over b, i and c of
///                            output_grad (b, n, i)_c * input (b, n, i s + w)_c
///
/// Shapes: windows lie inside their sequence; one shorter than compress_block_size has none. Tokens
///         that no window covers have gradient 0. Any positive window and stride will do, also such
///         that the windows do not overlap.
/// Cost:   an input_grad row compress_block_size / compress_stride * head_dim multiplications, an
///         element of weight_grad as many as a head of output_grad has elements. Both are
///         independent: call them from any thread.
/// Source: aclnnNsaCompressGrad.md (formulas).
template <class Real, class Stored = Real>
class NsaCompressGrad {
 public:
  using Problem = spec::NsaCompressGrad::Problem;
  using Inputs = spec::NsaCompressGrad::Inputs;

  /// Errors: std::invalid_argument for a window or stride below 1 and for operands of another size
  ///         than the problem's.
  NsaCompressGrad(const Problem& problem, CompressOperands<Stored> operands);
  /// The operator's own tensors, exact. Errors: std::invalid_argument for a tensor of another
  /// shape.
  static NsaCompressGrad from(const Problem& problem, const Inputs& inputs);

  std::vector<Real> input_grad_row(std::int64_t b, std::int64_t n, std::int64_t p) const;
  Real weight_grad(std::int64_t w, std::int64_t n) const;

 private:
  Problem problem_;
  CompressOperands<Stored> operands_;
  spec::Extents inputs_, outputs_;
};

}  // namespace assay::reference
