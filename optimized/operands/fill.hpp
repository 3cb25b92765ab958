#pragma once

#include "assay/spec/tensor.hpp"

namespace assay::optimized {

/// Fills the viewed elements of a tensor with zeros, or with one number.
void fill_with_zeros(spec::Tensor& tensor);
void fill(spec::Tensor& tensor, float value);
/// Fills the tokens of TND after the last sequence with zeros.
void clear_padding(spec::Tensor& tensor, const spec::Extents& extents);

}  // namespace assay::optimized
