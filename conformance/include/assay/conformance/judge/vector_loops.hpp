#pragma once

#include <cstdint>

namespace assay::conformance {

/// Three sums that run side by side over the same products.
struct ProductSums {
  double *sum, *absolute, *squares;
};

/// sum += factor x, absolute += |factor x|, squares += (factor x)^2, element by element.
void add_products(double factor, const double* x, std::int64_t count, const ProductSums& sums);

/// y += factor x.
void add_scaled(double factor, const double* x, std::int64_t count, double* y);
/// y += factor |x|.
void add_scaled_abs(double factor, const double* x, std::int64_t count, double* y);

}  // namespace assay::conformance
