#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "assay/conformance/judge/arithmetic.hpp"
#include "assay/conformance/judge/expectation.hpp"
#include "assay/engine/algebra/bound.hpp"

/// Between numerics, the engine and expectations, for all operators. E1, E2 ... are numbers of
/// docs/formula_sheet.md.
namespace assay::conformance {

/// E18. The probability of a false alarm of one tensor and seed.
inline constexpr double false_alarm = 1e-9;

/// E18. Returns lambda: so many sums, each of mean-free roundings, share the false alarm.
inline double azuma_factor(std::int64_t sums) {
  return engine::mean_free_factor(sums, false_alarm);
}

/// The type that a kernel rounds to, if it does.
engine::Store store_of(spec::DType type, spec::Rounding rounding);

/// Roundings of a kernel's accumulators and of the operands of its products.
engine::Units units_of(const Arithmetic& arithmetic);

/// How a kernel writes a tensor of so many elements, which it does not scale.
engine::Output output_of(const Arithmetic& arithmetic, std::int64_t elements);

/// Rows of a tensor without entries yet, whose elements all round on their own.
Expectation unmade(std::string name, spec::Extents extents, std::span<const std::int64_t> rows);

/// Where the entries of one row stand in an `Expectation`.
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

/// Makes the bound of an element, or of the first `count` of eight, the entries from the k-th on.
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
  put(to.extra + k, x.beside, count);
}

/// E28. Whether a staged value of up to this magnitude may become infinite, which exempts its rows.
inline bool may_overflow(spec::DType staged, double magnitude) {
  return staged == spec::DType::fp16 && magnitude >= overflow_threshold(spec::DType::fp16);
}

}  // namespace assay::conformance
