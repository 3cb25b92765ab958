#pragma once

#include "assay/spec/tensor.hpp"

namespace assay::optimized {

/// Fills the viewed elements of a tensor: with zeros, or with a given value.
void fill_with_zeros(spec::Tensor& tensor);
void fill(spec::Tensor& tensor, float value);
/// Fills the tokens after the last sequence of a TND tensor with zeros.
void clear_padding(spec::Tensor& tensor, const spec::Extents& extents);

}  // namespace assay::optimized
