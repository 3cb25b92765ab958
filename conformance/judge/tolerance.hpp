#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>

#include "assay/conformance/judge/arithmetic.hpp"
#include "assay/engine/lanes.hpp"

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

/// One number, or eight side by side: the equations below are of both.
template <class V>
concept Numbers = std::same_as<V, double> || std::same_as<V, engine::Lanes>;

/// E19. Returns what errors amount to with high probability: what staging is known to add, lambda
/// roots of the squares of what is mean-free, and what has a sign.
template <Numbers V>
[[gnu::always_inline]] inline V probable_error(const V& drift, double lambda, const V& squares,
                                               const V& linear) {
  return engine::magnitude_of(drift) + lambda * engine::root_of(squares) + linear;
}

/// E20. Returns the smaller of both where roundings average out, else the worst case.
template <Numbers V>
[[gnu::always_inline]] inline V core_error(const V& rigorous, const V& probable, bool averages) {
  return averages ? (probable < rigorous ? probable : rigorous) : rigorous;
}

/// E21. Returns how many units of magnitude a sum of `terms` summands accumulates at most.
inline double worst_chain(double terms) { return terms + 4; }

/// E21. Returns the same with high probability, `worst` where that is less.
inline double probable_chain(double worst, double terms, double lambda) {
  return std::min(worst, lambda * std::sqrt(terms) + 4);
}

/// E24. Returns tau: core, accumulation and what is beside them, and the final cast of all that and
/// of `magnitude`, the size of the reference.
template <Numbers V>
[[gnu::always_inline]] inline V tolerance_of(const Arithmetic& n, const V& magnitude, const V& core,
                                             const V& accumulation, const V& extra) {
  const V written = magnitude + extra + core + accumulation;
  return core + accumulation + extra + n.of_out.half_ulp(written, engine::leading_power(written));
}

/// E25. Returns the radius of a reference in double whose rigorous terms are these. Every one of
/// them is convex in the unit roundoffs and 0 at 0: with double's units, at least 2^27 times
/// smaller, the same formula bounds the error by that share.
template <Numbers V>
[[gnu::always_inline]] inline V reference_radius(const V& rigorous, const V& accumulation) {
  return 0x1p-27 * (rigorous + accumulation);
}

/// E28. Whether a staged value of up to this magnitude may become infinite, which exempts its rows.
inline bool may_overflow(spec::DType staged, double magnitude) {
  return staged == spec::DType::fp16 && magnitude >= overflow_threshold(spec::DType::fp16);
}

}  // namespace assay::conformance
