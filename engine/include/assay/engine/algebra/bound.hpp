#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "assay/engine/algebra/reading.hpp"
#include "assay/engine/algebra/store.hpp"
#include "assay/engine/algebra/sum.hpp"
#include "assay/engine/lanes.hpp"

/// Computes the error bound of one output element, or of several in SIMD lanes: the largest error
/// of a correct kernel. The inputs are sums over the element's pairs (`ElementOf`). Comments cite
/// the sections A1 to A13 of engine/README.md and the equations E1 to E26 of docs/bound.md.
namespace assay::engine {

/// Returns lambda, the factor of Azuma's inequality (engine/README.md, A10; docs/bound.md, E18).
/// Consider `sums` sums of random errors with mean 0. With probability 1 - `alpha`, every sum is at
/// most lambda times the root of the sum of its squared error bounds.
double mean_free_factor(std::int64_t sums, double alpha);

/// Returns an error bound that a kernel exceeds only with a small probability (engine/README.md,
/// A10; docs/bound.md, E19). It adds three parts: the drift (the sum of the known rounding errors),
/// lambda times the root of `squares` (squared bounds of the errors with mean 0), and `shared`
/// (bound of the errors whose mean may differ from 0).
template <class V>
[[gnu::always_inline]] inline V probable_error(const V& drift, double lambda, const V& squares,
                                               const V& shared) {
  return magnitude_of(drift) + lambda * root_of(squares) + shared;
}

/// Returns the smaller of the bounds `rigorous` and `probable` if all rounding errors have mean 0
/// (`averages` is true). Otherwise returns `rigorous` (engine/README.md, A10; docs/bound.md, E20).
template <class V>
[[gnu::always_inline]] inline V core_error(const V& rigorous, const V& probable, bool averages) {
  return averages ? (probable < rigorous ? probable : rigorous) : rigorous;
}

/// Returns the largest error of adding `terms` summands, as a multiple of unit roundoff times the
/// sum of their magnitudes (engine/README.md, A11; docs/bound.md, E21).
inline double worst_chain(double terms) { return terms + 4; }

/// Returns a limit for the error that `worst_chain` bounds. The error exceeds this limit only with
/// a small probability. The limit is at most `worst` (engine/README.md, A11; docs/bound.md, E21).
inline double probable_chain(double worst, double terms, double lambda) {
  return std::min(worst, lambda * std::sqrt(terms) + 4);
}

/// Returns the tolerance of an element (engine/README.md, A12; docs/bound.md, E24). Let e be `core`
/// + `accumulation` + `additive`, the error before the last rounding. The function returns e plus
/// the error of rounding a value of size `magnitude` + e to the output type, where `magnitude` is
/// |reference|.
template <class V>
[[gnu::always_inline]] inline V tolerance_of(const Store& store, const V& magnitude, const V& core,
                                             const V& accumulation, const V& additive) {
  const V before = core + accumulation + additive;
  return before + store.error(magnitude + before);
}

/// Returns a bound of the reference's own error, which comes from its arithmetic in double
/// (docs/bound.md, E25). The bound is 2^-27 times the kernel's rigorous error bound. Reason: that
/// bound is a convex function of the unit roundoffs, is 0 if they are 0, and the unit roundoff of
/// double is at least 2^27 times smaller than the kernel's.
template <class V>
[[gnu::always_inline]] inline V reference_radius(const V& rigorous, const V& accumulation) {
  return 0x1p-27 * (rigorous + accumulation);
}

/// Returns the largest error of a sum of exact products that is computed in double, in any order
/// (engine/blocks/README.md, B3).
template <class V>
[[gnu::always_inline]] inline V sum_radius(const ElementOf<V>& x) {
  return ((x.terms + 4) * 0x1p-53) * x.magnitude;
}

/// The error that the additions of one output element cause, as a multiple of unit roundoff times
/// the element's sum of magnitudes (engine/README.md, A11).
struct Chain {
  double worst = 0, likely = 0;
  double lost = 0;  ///< largest loss of all additions by underflow (absolute)
  /// Coefficients for the variance of the error. The variance is `of_squares` times the sum of the
  /// squared summands, plus `of_value` times the square of the sum, plus `of_worst` times the
  /// square of the largest accumulation error.
  double of_squares = 0, of_value = 0, of_worst = 0;
};

/// Describes a kernel that computes a sum as several partial sums. The kernel rounds each partial
/// sum to a narrower type before it adds it to the total.
struct Parts {
  double u = 0, lost = 0;  ///< of the type: unit roundoff, half the smallest number; 0: exact
  double count = 0;
};

/// Describes how a kernel sums, scales and rounds one output.
struct Output {
  Units units;
  double factor = 1;     ///< the kernel multiplies the sum by this factor
  double roundings = 0;  ///< number of fp32 roundings of the sum; a factor causes two
  double lambda = 0;     ///< A10
  bool averages = true;  ///< true: the rounding errors of all stores have mean 0
  Store store;           ///< rounds to the type of the output
  Chain chain;
  Parts parts;
  double operands = 0;  ///< unit roundoffs of both narrowed operands of the last product, added
  double scaled = 0;    ///< units of an operand that was scaled in advance, and its underflow
  double lost = 0;
};

/// Returns the error of adding `terms` summands in any order (engine/README.md, A11). The error is
/// treated as random with mean 0 if all of the kernel's roundings have mean 0.
inline Chain chain_of(double terms, const Output& output) {
  const double worst = worst_chain(terms);
  const bool averages = output.averages && !output.units.truncating;
  return {.worst = worst,
          .likely = averages ? probable_chain(worst, terms, output.lambda) : worst,
          .of_squares = terms / 3,
          .of_value = terms / 3};
}

/// Bounds of the error |kernel's result - `value|` of one element. `proven` holds in the worst
/// case; `probable` holds with the probability for which lambda was chosen. `radius` bounds the
/// rounding error in `value`. In a correct kernel, the error has the mean `drift` and the standard
/// deviation `deviation`.
template <class V>
struct Bound {
  V value{}, radius{}, probable{}, proven{}, deviation{}, floor{}, drift{};
  V core{}, accumulation{}, additive{};  ///< parts of `probable`, before the last store
  V rigorous{}, largest{};  ///< largest error of the summands; of the terms that are added
};

/// Returns the error of rounding the partial sums of a sum (docs/bound.md, E22). `partials` is the
/// sum of their absolute values.
template <class V>
[[gnu::always_inline]] inline V partial_error(const Parts& parts, const V& partials,
                                              const V& reference, const V& core) {
  return parts.u * partials + 2.0 * parts.u * (reference + core) + (parts.count + 2) * parts.lost;
}

/// Returns the expected variance of the error of one element in a correct kernel (docs/bound.md,
/// E26). `worst`: the element's accumulation error. `part`: the error from rounding its partial
/// sums. `scaled`: the error from an operand that the kernel scales before the product.
template <class V>
[[gnu::always_inline]] inline V element_variance(const ElementOf<V>& x, const Output& output,
                                                 const V& worst, const V& part, const V& scaled,
                                                 const V& floor) {
  const double size = magnitude_of(output.factor), squared = square(output.factor);
  const V reference = size * magnitude_of(x.value), summands = squared * x.value_squares;
  const Chain& chain = output.chain;
  const V added = chain.of_value * square(reference) + chain.of_squares * summands;
  // Some rounding errors are common to several pairs and do not average out. For them, the formula
  // uses the largest possible value. `floor` (the largest total that masked pairs may add) matters
  // only if the element's value is not much larger.
  const V constants = size * (magnitude_of(x.by_constant[0]) + magnitude_of(x.by_constant[1]));
  return squared * x.moment / 3.0 + square(size * x.shared) / 81.0 + square(constants) +
         square(output.units.u_sum) * added + chain.of_worst * square(worst) +
         square(output.store.error(reference)) / 3.0 + square(output.operands) * summands / 6.0 +
         square(part) / 6.0 + square(scaled) / 12.0 +
         square(output.roundings * output.units.u * reference) / 3.0 + square(floor);
}

/// Safety factor: the bounds are computed in double and are therefore rounded, too.
inline constexpr double bound_slack = 1 + 0x1p-40;

/// Maps NaN to infinity: a bound that overflowed sets no limit.
template <class V>
[[gnu::always_inline]] inline V known(const V& limit) {
  return limit != limit ? filled<V>(HUGE_VAL) : limit;
}

/// Returns the bounds of one element's error (engine/README.md, A10 to A12; docs/bound.md, E15).
/// `floor` is the largest total that masked pairs may add to the element.
template <class V>
[[gnu::always_inline]] inline Bound<V> bound_of(const ElementOf<V>& x, const Output& output,
                                                const V& floor = V{}) {
  const double size = bound_slack * magnitude_of(output.factor);
  Bound<V> bound = {.value = output.factor * x.value,
                    .floor = floor,
                    .drift = output.factor * x.drift,
                    .rigorous = size * x.rigorous};
  const V reference = magnitude_of(bound.value), magnitude = size * x.magnitude;
  const V probable =
      probable_error(size * x.drift, output.lambda, square(size) * x.squares, size * x.shared);
  bound.core = core_error(bound.rigorous, probable, output.averages);
  const V total = magnitude + bound.rigorous, unit = output.units.u_sum * total;
  const V worst = output.chain.worst * unit + output.chain.lost;
  bound.accumulation = output.chain.likely * unit + output.chain.lost;
  bound.largest = total + worst;
  const V of_parts = partial_error(output.parts, V(size * x.partials), reference, bound.core);
  const V part = magnitude > 0.0 ? of_parts : V{};
  const V scaled = output.scaled * magnitude + output.lost;
  bound.additive = output.operands * total + scaled +
                   output.roundings * output.units.u * reference + part + floor;
  bound.radius = known(V(reference_radius(bound.rigorous, worst) + 0x1p-52 * reference));
  bound.probable =
      known(tolerance_of(output.store, reference, bound.core, bound.accumulation, bound.additive));
  bound.proven =
      known(tolerance_of(output.store, reference, bound.rigorous, worst, bound.additive));
  bound.deviation = root_of(element_variance(x, output, worst, part, scaled, floor));
  return bound;
}

}  // namespace assay::engine
