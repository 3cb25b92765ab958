#pragma once

#include <vector>

#include "assay/spec/call.hpp"
#include "assay/spec/layout.hpp"
#include "assay/spec/tensor.hpp"

namespace assay::conformance {

/// Returns a guarded tensor as `parameter` describes it. `values` contains its elements (row, dim),
/// with rows in the order of Extents::row.
spec::Tensor head_tensor(const spec::Parameter& parameter, spec::Layout layout,
                         const spec::Extents& extents, const std::vector<double>& values);

/// Returns a guarded tensor in the layout TND in the same way.
spec::Tensor packed_tensor(const spec::Parameter& parameter, const spec::Extents& extents,
                           const std::vector<double>& values);

/// Returns a TND tensor with one number for every row of `extents`; the number is repeated in all
/// replicas of the row.
spec::Tensor packed_statistics(const spec::Parameter& parameter, spec::Extents extents,
                               const std::vector<double>& rows);

}  // namespace assay::conformance
