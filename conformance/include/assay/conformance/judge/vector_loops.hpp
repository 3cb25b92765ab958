#pragma once

#include <cstdint>

namespace assay::conformance {

/// Adds a scaled vector: y += factor x.
void add_scaled(double factor, const float* x, std::int64_t count, double* y);
/// Adds scaled magnitudes: y += factor |x|.
void add_scaled_abs(double factor, const float* x, std::int64_t count, double* y);

}  // namespace assay::conformance
