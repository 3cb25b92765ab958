#pragma once

#include "assay/spec/tensor.hpp"

namespace assay::optimized {

/// Set all viewed elements of a tensor to zero, or to a given value.
void fill_with_zeros(spec::Tensor& tensor);
void fill(spec::Tensor& tensor, float value);
/// Sets the tokens after the last sequence of a TND tensor to zero.
void clear_padding(spec::Tensor& tensor, const spec::Extents& extents);

}  // namespace assay::optimized
