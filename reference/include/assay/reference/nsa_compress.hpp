#pragma once

#include <cstdint>
#include <vector>

#include "assay/reference/real.hpp"
#include "assay/spec/operators/nsa_compress.hpp"

namespace assay::reference {

/// The input tensors as dense arrays in arithmetic of type Real. The rows of `input` are in the
/// order of `spec::Extents::row`; the weight of window position w in head n is at index w * heads +
/// n.
template <class Real>
struct NsaCompressOperands {
  std::vector<Real> input, weight;
  friend bool operator==(const NsaCompressOperands&, const NsaCompressOperands&) = default;
};

/// Converts the tensors of a call to dense arrays, without rounding.
/// Errors: std::invalid_argument if a tensor's shape does not match `problem`.
template <class Real>
NsaCompressOperands<Real> operands_of(const spec::CompressionProblem& problem,
                                      const spec::NsaCompress::Inputs& inputs);

/// The operator NsaCompress, computed from its definition in arithmetic of type Real (double, Quad,
/// Fifty, Wide), with operands stored in type Stored. For window i of sequence b
///
///     output (b, n, i) = sum over w of weight (w, n) * input (b, n, i * compress_stride + w)
///
/// Shapes: as for NsaCompressGrad; any positive window and stride is valid.
/// Cost:   compress_block_size * head_dim multiplications for a row of output. Any thread may
///         compute a row.
/// Source: aclnnNsaCompress.md (formulas), aclnnNsaCompressGrad.md (formulas).
template <class Real, class Stored = Real>
class NsaCompress {
 public:
  using Problem = spec::CompressionProblem;
  using Inputs = spec::NsaCompress::Inputs;

  /// Errors: std::invalid_argument for a window or stride below 1, and for operands whose size does
  /// not match `problem`.
  NsaCompress(const Problem& problem, NsaCompressOperands<Stored> operands);
  /// Creates the object from the tensors of a call, without rounding.
  /// Errors: std::invalid_argument if a tensor's shape does not match `problem`.
  static NsaCompress from(const Problem& problem, const Inputs& inputs);

  std::vector<Real> output_row(std::int64_t b, std::int64_t n, std::int64_t i) const;

 private:
  Problem problem_;
  NsaCompressOperands<Stored> operands_;
  spec::Extents inputs_;
};

}  // namespace assay::reference
