#pragma once

#include <cstdint>
#include <vector>

#include "assay/reference/real.hpp"
#include "assay/spec/operators/nsa_compress.hpp"

namespace assay::reference {

/// Dense operands in arithmetic of type Real; the rows of input are in the order of
/// `spec::Extents::row`, and weight (w, n) is at w * heads + n.
template <class Real>
struct NsaCompressOperands {
  std::vector<Real> input, weight;
  friend bool operator==(const NsaCompressOperands&, const NsaCompressOperands&) = default;
};

/// Converts the operator's own tensors to dense operands, without rounding.
/// Errors: std::invalid_argument for a tensor whose shape is not that of the problem.
template <class Real>
NsaCompressOperands<Real> operands_of(const spec::CompressionProblem& problem,
                                      const spec::NsaCompress::Inputs& inputs);

/// The compression, computed from the definition in arithmetic of type Real (double, Quad, Fifty,
/// Wide), with operands stored in type Stored. For window i of sequence b
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

  /// Errors: std::invalid_argument for a window or stride below 1, and for operands that do not
  /// have the sizes of the problem.
  NsaCompress(const Problem& problem, NsaCompressOperands<Stored> operands);
  /// Uses the operator's own tensors, without rounding.
  /// Errors: std::invalid_argument for a tensor whose shape is not that of the problem.
  static NsaCompress from(const Problem& problem, const Inputs& inputs);

  std::vector<Real> output_row(std::int64_t b, std::int64_t n, std::int64_t i) const;

 private:
  Problem problem_;
  NsaCompressOperands<Stored> operands_;
  spec::Extents inputs_;
};

}  // namespace assay::reference
