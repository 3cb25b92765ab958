#pragma once

#include <vector>

#include "assay/spec/call.hpp"
#include "assay/spec/layout.hpp"
#include "assay/spec/tensor.hpp"

namespace assay::conformance {

/// Returns a tensor with the shape and strides of `parameter`, between guards (known bytes).
/// `values` has its elements (row, dim), with rows in the order of Extents::row.
spec::Tensor head_tensor(const spec::Parameter& parameter, spec::Layout layout,
                         const spec::Extents& extents, const std::vector<double>& values);

/// Returns a tensor in the layout TND with the shape and strides of `parameter`, between guards
/// (known bytes). `values` has its elements (row, dim).
spec::Tensor packed_tensor(const spec::Parameter& parameter, const spec::Extents& extents,
                           const std::vector<double>& values);

/// Returns a TND tensor with one number for every row of `extents`. All elements of a row get the
/// same number.
spec::Tensor packed_statistics(const spec::Parameter& parameter, spec::Extents extents,
                               const std::vector<double>& rows);

}  // namespace assay::conformance
