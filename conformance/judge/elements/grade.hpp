#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "assay/conformance/judge/expectation.hpp"

namespace assay::conformance {

/// The severity of the error of one element.
enum class Grade : std::uint8_t { within, statistical, proven, structural };

/// Returns the grade (severity) of a finite error.
inline Grade grade_of_error(const Expectation& e, std::size_t k, double x) {
  const double error = std::abs(x - e.value[k]);
  if (error <= e.tau[k] + e.radius[k]) return Grade::within;
  return error <= e.tau_det[k] + e.radius[k] ? Grade::statistical : Grade::proven;
}

/// Equation E27: returns the grade (severity) of an element that is not finite, or for which an
/// infinity is expected or possible.
Grade grade_near_overflow(const Expectation& e, std::size_t k, double x,
                          const Arithmetic& arithmetic);

/// E27.
inline Grade grade(const Expectation& e, std::size_t k, double x, const Arithmetic& arithmetic) {
  if (!std::isfinite(e.radius[k])) return Grade::within;  // the error limit is infinite
  // 2^15 is half of the overflow threshold of fp16, which is the smallest threshold of all types.
  // Most elements are below it and need no further check.
  const bool is_usual = std::isfinite(x) && std::abs(e.value[k]) + e.tau_det[k] < 0x1p15;
  return is_usual ? grade_of_error(e, k, x) : grade_near_overflow(e, k, x, arithmetic);
}

/// A row to judge: the index of its expected values, and the values that the kernel wrote.
struct JudgedRow {
  const Expectation& e;
  std::int64_t r;
  std::span<const double> values;

  std::size_t first() const { return static_cast<std::size_t>(r * e.dim()); }
  std::size_t last() const { return static_cast<std::size_t>((r + 1) * e.dim()); }
  bool is_exempt() const { return e.exempt[static_cast<std::size_t>(r)] != 0; }
  /// Returns the kernel's value for element k of the expectation.
  double value(std::size_t k) const { return values[k - first()]; }
};

}  // namespace assay::conformance
