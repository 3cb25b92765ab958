#pragma once

#include <cstdint>
#include <vector>

#include "assay/reference/real.hpp"
#include "assay/spec/operators/nsa_compress_grad.hpp"

namespace assay::reference {

/// The input tensors as dense arrays in arithmetic of type Real. The rows of `input` and
/// `output_grad` are in the order of `spec::Extents::row`.
template <class Real>
struct CompressOperands {
  std::vector<Real> output_grad, input;
  std::vector<Real> weight;  ///< weight (w, n) is at index w * heads + n
  friend bool operator==(const CompressOperands&, const CompressOperands&) = default;
};

/// Converts the tensors of a call to dense arrays, without rounding.
/// Errors: std::invalid_argument if a tensor's shape does not match `problem`.
template <class Real>
CompressOperands<Real> operands_of(const spec::NsaCompressGrad::Problem& problem,
                                   const spec::NsaCompressGrad::Inputs& inputs);

/// The gradient of NsaCompress, computed from its definition in arithmetic of type Real (double,
/// Quad, Fifty, Wide), with operands stored in type Stored.
///
/// Let i be a window of sequence b, c a channel of head_dim, and s the compress_stride. Then
///
///     input_grad (b, n, p) = sum over i and w with i s + w = p of
///                            weight (w, n) * output_grad (b, n, i)
///     weight_grad (w, n)   = sum over b, i and c of
///                            output_grad (b, n, i)_c * input (b, n, i s + w)_c
///
/// Shapes: windows are within their sequence; a sequence shorter than compress_block_size has no
///         window. Tokens that no window covers have gradient 0. Any positive window and stride is
///         valid, even if the windows do not overlap.
/// Cost:   compress_block_size / compress_stride * head_dim multiplications for a row of
///         input_grad. For an element of weight_grad: one multiplication for each element of
///         output_grad in the same head. Rows and elements are independent: any thread may
///         compute them.
/// Source: aclnnNsaCompressGrad.md (formulas).
template <class Real, class Stored = Real>
class NsaCompressGrad {
 public:
  using Problem = spec::NsaCompressGrad::Problem;
  using Inputs = spec::NsaCompressGrad::Inputs;

  /// Errors: std::invalid_argument for a window or stride below 1, and for operands whose size does
  /// not match `problem`.
  NsaCompressGrad(const Problem& problem, CompressOperands<Stored> operands);
  /// Creates the object from the tensors of a call, without rounding.
  /// Errors: std::invalid_argument if a tensor's shape does not match `problem`.
  static NsaCompressGrad from(const Problem& problem, const Inputs& inputs);

  std::vector<Real> input_grad_row(std::int64_t b, std::int64_t n, std::int64_t p) const;
  Real weight_grad(std::int64_t w, std::int64_t n) const;

 private:
  Problem problem_;
  CompressOperands<Stored> operands_;
  spec::Extents inputs_, outputs_;
};

}  // namespace assay::reference
