#pragma once

#include <cstddef>
#include <cstdint>

#include "assay/conformance/judge/arithmetic.hpp"
#include "assay/conformance/judge/expectation.hpp"

/// Loops over the elements of a row, in SIMD lanes; the bits of the results do not depend on the
/// number of lanes. If a quick check fails, its caller examines the elements one by one.
namespace assay::conformance {

/// The expected values of a row and, if they exist, the kernel's values (otherwise null).
struct RowNumbers {
  RowNumbers(const Expectation& e, std::size_t first, std::size_t elements, const double* of_actual)
      : value(e.value.data() + first),
        radius(e.radius.data() + first),
        tau(e.tau.data() + first),
        tau_det(e.tau_det.data() + first),
        sigma(e.sigma.data() + first),
        floor(e.floor.data() + first),
        drift(e.drift.data() + first),
        actual(of_actual),
        count(static_cast<std::int64_t>(elements)) {}

  const double *value, *radius, *tau, *tau_det, *sigma, *floor, *drift, *actual;
  std::int64_t count;
};

/// Returns true if all elements pass the quick check. The values must be finite, within their
/// tolerances tau (E27) and far from overflow. The radius (error limit of the reference) must be at
/// most `share` times tau; it does not matter if tau is at most the floor (largest magnitude that
/// counts as 0). Fills `ratios` with |error| / (tau + radius); the ratio is 0 if there is no error.
bool all_within(const RowNumbers& row, double share, double* ratios);

/// The numbers that `Moments` adds for each element: the error, and the error of the final cast,
/// both divided by the expected deviation. is_informative: nonzero if the statistics can use the
/// error. is_biased: nonzero if casts of such a value tend to one side.
struct MomentRow {
  double *error, *of_cast;
  std::int64_t *is_informative, *is_biased;
};
/// Equations E2 and E29: computes the errors of a row for `Moments`, for a final cast that rounds
/// to nearest.
void fill_moments(const RowNumbers& row, const Arithmetic& arithmetic, const MomentRow& to);

/// Constants of the output type: relative step, smallest normal number, and step of subnormal
/// numbers.
struct NearestSteps {
  double relative_step, least_normal, least_step;
};
/// Returns true if all expected values of the row are certain. The radius (error limit of the
/// reference) must be at most `share` of the tolerance tau, unless tau is at most the floor
/// (largest magnitude that counts as 0). The cast to nearest must give the same result for all
/// numbers within the radius.
bool all_certain(const RowNumbers& row, double share, const NearestSteps& steps);

/// Returns the largest quotient radius / tau (error limit of the reference / tolerance) of the row.
/// Only elements with a finite tau above the floor (largest magnitude that counts as 0) are
/// examined; 0 without such elements.
double largest_radius(const RowNumbers& row);

}  // namespace assay::conformance
