#include "judge/elements/grade.hpp"

namespace assay::conformance {

Grade grade_near_overflow(const Expectation& e, std::size_t k, double x,
                          const Arithmetic& arithmetic) {
  // The tolerance is infinite if the kernel's arithmetic may overflow. Every value is then
  // accepted.
  if (!std::isfinite(e.tau_det[k])) return Grade::within;
  const double threshold = overflow_threshold(arithmetic.io), ref = e.value[k];
  const bool must_be_finite = std::abs(ref) + e.tau_det[k] < threshold;
  const bool must_overflow = std::abs(ref) - e.tau_det[k] >= threshold;
  const bool right_sign = std::signbit(x) == std::signbit(ref);
  if (std::isnan(x)) return std::isnan(ref) ? Grade::within : Grade::structural;
  const bool saturates = arithmetic.numerics.overflow != spec::Overflow::inf ||
                         arithmetic.numerics.round_out == spec::Rounding::rtz;
  if (std::isinf(x)) {
    const bool may = arithmetic.numerics.overflow != spec::Overflow::saturate &&
                     arithmetic.numerics.round_out != spec::Rounding::rtz;
    return !must_be_finite && right_sign && may ? Grade::within : Grade::structural;
  }
  if (!must_be_finite && saturates && right_sign && std::abs(x) == largest_finite(arithmetic.io))
    return Grade::within;
  if (must_overflow) return Grade::structural;
  return grade_of_error(e, k, x);
}

}  // namespace assay::conformance
