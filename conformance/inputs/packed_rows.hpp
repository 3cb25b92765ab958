#pragma once

#include <vector>

#include "assay/spec/call.hpp"
#include "assay/spec/layout.hpp"
#include "assay/spec/tensor.hpp"

namespace assay::conformance {

/// A tensor as `parameter` describes it, guarded, that holds `values`: (row, dim) with the rows as
/// Extents::row counts them.
spec::Tensor head_tensor(const spec::Parameter& parameter, spec::Layout layout,
                         const spec::Extents& extents, const std::vector<double>& values);

/// The same in TND.
spec::Tensor packed_tensor(const spec::Parameter& parameter, const spec::Extents& extents,
                           const std::vector<double>& values);

/// In TND, one number for every row that `extents` spans, in all replicas.
spec::Tensor packed_statistics(const spec::Parameter& parameter, spec::Extents extents,
                               const std::vector<double>& rows);

}  // namespace assay::conformance
