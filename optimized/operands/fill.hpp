#pragma once

#include "assay/spec/tensor.hpp"

namespace assay::optimized {

/// Fills the viewed elements of a tensor with zeros, or with one number.
void fill_with_zeros(spec::Tensor& tensor);
void fill(spec::Tensor& tensor, float value);

}  // namespace assay::optimized
