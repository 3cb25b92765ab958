#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "assay/conformance/judge/arithmetic.hpp"
#include "assay/conformance/judge/expectation.hpp"
#include "assay/engine/algebra/bound.hpp"

/// Functions for all operators: they compute the error model of a kernel from its declared
/// numerics, and expected values and tolerances from the results of the engine. E1, E2, ... are the
/// equations of docs/formula_sheet.md.
namespace assay::conformance {

/// Equation E18: the accepted probability of a false positive, for each tensor and seed.
inline constexpr double false_positive = 1e-9;

/// Equation E18: returns the factor lambda. A sum of rounding errors with mean zero is bounded by
/// lambda times the root of its sum of squares. If there are `sums` such sums, the probability that
/// any of them exceeds its bound is at most `false_positive`.
inline double azuma_factor(std::int64_t sums) {
  return engine::mean_free_factor(sums, false_positive);
}

/// Returns how a kernel rounds a value that it stores in this type. fp32 is not rounded.
engine::Store store_of(spec::DType type, spec::Rounding rounding);

/// Returns the unit roundoffs of a kernel's accumulators and of the operands of its products.
engine::Units units_of(const Arithmetic& arithmetic);

/// Returns the error model for writing an unscaled tensor with this number of elements.
engine::Output output_of(const Arithmetic& arithmetic, std::int64_t elements);

/// Returns an expectation for some rows of a tensor. It has no expected values yet. The elements
/// are rounded independently.
Expectation unmade(std::string name, spec::Extents extents, std::span<const std::int64_t> rows);

/// Pointers to the data of one row of an `Expectation`.
struct RowEntries {
  double *value, *radius, *tau, *tau_det, *sigma, *floor, *drift;
  float *core, *accumulation, *extra;
};
RowEntries entries_of(Expectation& e, std::int64_t row);

[[gnu::always_inline]] inline void put(double* to, const double& x, std::int64_t) { *to = x; }
[[gnu::always_inline]] inline void put(float* to, const double& x, std::int64_t) {
  *to = static_cast<float>(x);
}
[[gnu::always_inline]] inline void put(double* to, const engine::Lanes& x, std::int64_t count) {
  __builtin_memcpy(to, &x, static_cast<std::size_t>(count) * sizeof(double));
}
[[gnu::always_inline]] inline void put(float* to, const engine::Lanes& x, std::int64_t count) {
  const engine::FloatLanes narrowed = __builtin_convertvector(x, engine::FloatLanes);
  __builtin_memcpy(to, &narrowed, static_cast<std::size_t>(count) * sizeof(float));
}

/// Writes the bound of one element to index k or, for several elements in lanes, the first `count`
/// bounds to index k and the following indices.
template <class V>
[[gnu::always_inline]] inline void put(const RowEntries& to, std::int64_t k,
                                       const engine::Bound<V>& x, std::int64_t count = 1) {
  put(to.value + k, x.value, count);
  put(to.radius + k, x.radius, count);
  put(to.tau + k, x.probable, count);
  put(to.tau_det + k, x.proven, count);
  put(to.sigma + k, x.deviation, count);
  put(to.floor + k, x.floor, count);
  put(to.drift + k, x.drift, count);
  put(to.core + k, x.core, count);
  put(to.accumulation + k, x.accumulation, count);
  put(to.extra + k, x.additive, count);
}

/// Equation E28: returns whether a value of this magnitude may become infinite when the kernel
/// rounds it to the narrower type `staged`. Rows with such a value are exempt (not judged).
inline bool may_overflow(spec::DType staged, double magnitude) {
  return staged == spec::DType::fp16 && magnitude >= overflow_threshold(spec::DType::fp16);
}

}  // namespace assay::conformance
