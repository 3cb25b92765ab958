#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "assay/conformance/judge/arithmetic.hpp"

/// The equations of tolerances that all operators share; E1, E2 ... are numbers of
/// conformance/README.md, "Formula sheet".
namespace assay::conformance {

/// E18. The probability of a false alarm of one tensor and seed.
inline constexpr double false_alarm = 1e-9;

/// E18. Returns lambda: so many sums, each of mean-free roundings, share the false alarm (Azuma).
inline double azuma_factor(std::int64_t sums) {
  const auto count = static_cast<double>(std::max<std::int64_t>(sums, 1));
  return std::sqrt(2 * std::log(2 * count / false_alarm));
}

/// E19. Returns what errors amount to with high probability: what staging is known to add, lambda
/// roots of the squares of what is mean-free, and what has a sign.
inline double probable_error(double drift, double lambda, double squares, double linear) {
  return std::abs(drift) + lambda * std::sqrt(squares) + linear;
}

/// E20. Returns the smaller of both where roundings average out, else the worst case.
inline double core_error(double rigorous, double probable, bool averages) {
  return averages ? std::min(rigorous, probable) : rigorous;
}

/// E21. Returns how many units of magnitude a sum of `terms` summands accumulates at most.
inline double worst_chain(double terms) { return terms + 4; }

/// E21. Returns the same with high probability, `worst` where that is less.
inline double probable_chain(double worst, double terms, double lambda) {
  return std::min(worst, lambda * std::sqrt(terms) + 4);
}

/// E24. Returns tau: core, accumulation and what is beside them, and the final cast of all that and
/// of `magnitude`, the size of the reference.
inline double tolerance_of(const Arithmetic& n, double magnitude, double core, double accumulation,
                           double extra) {
  return core + accumulation + extra + n.out_error(magnitude + extra + core + accumulation);
}

/// E25. Returns the radius of a reference in double whose rigorous terms are these. Every one of
/// them is convex in the unit roundoffs and 0 at 0: with double's units, at least 2^27 times
/// smaller, the same formula bounds the error by that share.
inline double reference_radius(double rigorous, double accumulation) {
  return 0x1p-27 * (rigorous + accumulation);
}

/// E28. Whether a staged value of up to this magnitude may become infinite, which exempts its rows.
inline bool may_overflow(spec::DType staged, double magnitude) {
  return staged == spec::DType::fp16 && magnitude >= overflow_threshold(spec::DType::fp16);
}

}  // namespace assay::conformance
