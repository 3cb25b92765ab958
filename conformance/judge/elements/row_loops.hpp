#pragma once

#include <cstddef>
#include <cstdint>

#include "assay/conformance/judge/arithmetic.hpp"
#include "assay/conformance/judge/expectation.hpp"

/// Quick checks of all elements of a row, eight at a time. Elements are examined one by one only if
/// a quick check fails. Results have the same bits as those of the functions for one element.
namespace assay::conformance {

/// The expected values of a row, and the values to compare with them (null: none).
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

/// Returns true if all elements pass the quick check: values are finite and within their tolerances
/// (E27), far from overflow, and the radius is at most `share` of tau if tau is above the floor.
/// Fills `ratios` with |error| / (tau + radius), which is 0 without an error.
bool all_within(const RowNumbers& row, double share, double* ratios);

/// The numbers that `Moments` adds for each element: its error and the error of its final cast,
/// both divided by the deviation. is_informative: not 0 if the error can be used in statistics;
/// is_biased: not 0 if casts of such a value tend to one side.
struct MomentRow {
  double *error, *of_cast;
  std::int64_t *is_informative, *is_biased;
};
/// Equation E29: fills the numbers of a row, for a final cast that rounds ties to even.
void fill_moments(const RowNumbers& row, const Arithmetic& arithmetic, const MomentRow& to);

/// Constants of the type of the cast: its relative step, its smallest normal number, and the step
/// of subnormal numbers.
struct NearestSteps {
  double relative_step, least_normal, least_step;
};
/// Returns true if all elements are certain: the radius is at most `share` of tau (or tau is within
/// the floor), and all numbers within the radius have the same cast to nearest.
bool all_certain(const RowNumbers& row, double share, const NearestSteps& steps);

/// Returns the largest radius / tau of all elements whose tau is finite and above the floor; 0 if
/// there are no such elements.
double largest_radius(const RowNumbers& row);

}  // namespace assay::conformance
