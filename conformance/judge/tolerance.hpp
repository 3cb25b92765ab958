#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "assay/conformance/judge/arithmetic.hpp"
#include "assay/conformance/judge/expectation.hpp"
#include "assay/engine/algebra/bound.hpp"

/// For all operators: computes arithmetic and expectations from declared numerics and from the
/// results of the engine. E1, E2, ... are the equations of docs/formula_sheet.md.
namespace assay::conformance {

/// Equation E18: the probability of a false positive per tensor and seed.
inline constexpr double false_positive = 1e-9;

/// Equation E18: returns lambda for a number of sums of rounding errors with mean zero. The
/// probability that any of these sums exceeds its bound is at most `false_positive`.
inline double azuma_factor(std::int64_t sums) {
  return engine::mean_free_factor(sums, false_positive);
}

/// Returns how a kernel rounds to this type. fp32 is not rounded.
engine::Store store_of(spec::DType type, spec::Rounding rounding);

/// Returns the roundings of a kernel's accumulators and of the operands of its products.
engine::Units units_of(const Arithmetic& arithmetic);

/// Returns how a kernel writes a tensor with this number of elements, which is not scaled.
engine::Output output_of(const Arithmetic& arithmetic, std::int64_t elements);

/// Returns an expectation for some rows of a tensor, whose elements are rounded independently. Its
/// lists of expected values are still empty.
Expectation unmade(std::string name, spec::Extents extents, std::span<const std::int64_t> rows);

/// Pointers to the entries of one row of an `Expectation`.
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

/// Writes the bound of one element to entry k; or the bounds of the first `count` of eight elements
/// to entry k and the following ones.
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

/// Equation E28: returns whether a value of at most this magnitude may become infinite when the
/// kernel rounds it to a narrower type. Rows that contain it are not judged (exempt).
inline bool may_overflow(spec::DType staged, double magnitude) {
  return staged == spec::DType::fp16 && magnitude >= overflow_threshold(spec::DType::fp16);
}

}  // namespace assay::conformance
