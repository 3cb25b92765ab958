#pragma once

#include <cstddef>
#include <cstdint>

#include "assay/conformance/judge/arithmetic.hpp"
#include "assay/conformance/judge/expectation.hpp"

/// What is said of every element of a row, eight at a time, before anything is looked at one by
/// one. The numbers have the bits that the functions of one element give.
namespace assay::conformance {

/// Elements of a row of an expectation, and what is compared with them, which may be null where
/// nothing is.
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

/// Whether all elements are numbers within their tolerances (E27), far from overflow, and their
/// radii at most `share` of tau where that is beyond the floor. Fills in |error| / (tau + radius),
/// 0 of no error.
bool all_within(const RowNumbers& row, double share, double* ratios);

/// What `Moments` adds of elements: their errors and those of their final casts in deviations,
/// whether they say something, and whether that cast leans to one side; not 0 where so.
struct MomentRow {
  double *error, *of_cast;
  std::int64_t *is_telling, *is_biased;
};
/// E29. Of a final cast that rounds ties to even.
void fill_moments(const RowNumbers& row, const Arithmetic& arithmetic, const MomentRow& to);

/// The type that casts go to: its smallest normal number and the steps above and below.
struct NearestSteps {
  double relative_step, least_normal, least_step;
};
/// Whether the radius of every element is at most `share` of tau, unless that is not beyond the
/// floor, and all of it is cast to nearest alike.
bool all_certain(const RowNumbers& row, double share, const NearestSteps& steps);

/// The largest radius / tau of elements whose tau is a number beyond the floor; 0 of none.
double largest_radius(const RowNumbers& row);

}  // namespace assay::conformance
