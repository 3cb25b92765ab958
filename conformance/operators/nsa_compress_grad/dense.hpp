#pragma once

#include <cstdint>
#include <vector>

#include "assay/spec/operators/nsa_compress_grad.hpp"

namespace assay::conformance::compress {

using Op = spec::NsaCompressGrad;

/// Windows [first, last) of a sequence.
struct WindowRange {
  std::int64_t first = 0, last = 0;
  std::int64_t count() const { return last - first; }
};

/// Returns the windows of sequence b that cover its token p.
WindowRange covering_windows(const Op::Problem& problem, std::int64_t b, std::int64_t p);

/// Returns the number of windows of all sequences.
std::int64_t all_windows(const Op::Problem& problem);

/// Returns extents for weight and weight_grad: element (w, n) is row (0, n, w), which has one
/// channel.
spec::Extents weight_extents(const Op::Problem& problem);

/// Returns the index of a tensor of the shape (compress_block_size, heads): weight (w, n) is at (0,
/// n, w, 0). Errors: std::invalid_argument for another shape.
spec::HeadIndex weight_index(const Op::Problem& problem, const spec::Tensor& tensor);

/// Dense copies in double of a case's tensors, rows in the order of Extents::row.
class Dense {
 public:
  Dense(const Op::Problem& problem, const Op::Inputs& inputs);

  const double* output_grad(std::int64_t b, std::int64_t n, std::int64_t i) const {
    return output_grad_.data() + outputs.row(b, n, i) * outputs.dim;
  }
  const double* input(std::int64_t b, std::int64_t n, std::int64_t p) const {
    return input_.data() + inputs.row(b, n, p) * inputs.dim;
  }
  double weight(std::int64_t w, std::int64_t n) const {
    return weight_[static_cast<std::size_t>(weights.row(0, n, w))];
  }

  Op::Problem problem;
  spec::Extents inputs, outputs, weights;  ///< extents of input, output_grad and weight

 private:
  std::vector<double> output_grad_, input_, weight_;
};

}  // namespace assay::conformance::compress
