#pragma once

#include <cstdint>

namespace assay::conformance {

/// Arrays for three sums over the same terms factor * x.
struct ProductSums {
  double *sum, *absolute, *squares;
};

/// Adds products to three sums, for each element: sum += factor x, absolute += |factor x|, squares
/// += (factor x)^2.
void add_products(double factor, const double* x, std::int64_t count, const ProductSums& sums);

/// Adds a scaled vector: y += factor x.
void add_scaled(double factor, const double* x, std::int64_t count, double* y);
/// Adds scaled magnitudes: y += factor |x|.
void add_scaled_abs(double factor, const double* x, std::int64_t count, double* y);

}  // namespace assay::conformance
