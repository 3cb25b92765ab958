#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "assay/engine/algebra/reading.hpp"
#include "assay/engine/algebra/store.hpp"
#include "assay/engine/algebra/sum.hpp"
#include "assay/engine/lanes.hpp"

/// The last step of every bound, for one element or for eight. Input: the sums of an element.
/// Result: the largest error of a kernel that writes this element. A1 to A13: sections of
/// engine/README.md. E1 to E26: equations of docs/bound.md.
namespace assay::engine {

/// README A10, equation E18: returns lambda. Take `sums` sums of random errors, each error with
/// mean 0. With probability 1 - `alpha`, each sum is smaller than lambda times the root of its sum
/// of squares (Azuma's inequality).
double mean_free_factor(std::int64_t sums, double alpha);

/// README A10, equation E19: returns an error that is exceeded only with a small probability. It is
/// the sum of three parts: the known errors of stores (drift), lambda times the root of the summed
/// squares of the errors with mean 0, and the errors whose mean may differ from 0.
template <class V>
[[gnu::always_inline]] inline V probable_error(const V& drift, double lambda, const V& squares,
                                               const V& shared) {
  return magnitude_of(drift) + lambda * root_of(squares) + shared;
}

/// README A10, equation E20: min(rigorous, probable) if roundings have mean 0, else rigorous.
template <class V>
[[gnu::always_inline]] inline V core_error(const V& rigorous, const V& probable, bool averages) {
  return averages ? (probable < rigorous ? probable : rigorous) : rigorous;
}

/// README A11, equation E21: returns the largest error of a sum of `terms` summands, divided by the
/// magnitude of the sum.
inline double worst_chain(double terms) { return terms + 4; }

/// README A11, equation E21: returns a bound that this error satisfies with high probability; at
/// most `worst`.
inline double probable_chain(double worst, double terms, double lambda) {
  return std::min(worst, lambda * std::sqrt(terms) + 4);
}

/// README A12, equation E24. Let e be the sum of core, accumulation and the other errors
/// (`additive`). Returns e plus the error of storing a value of size `magnitude` + e, where
/// `magnitude` is that of the reference.
template <class V>
[[gnu::always_inline]] inline V tolerance_of(const Store& store, const V& magnitude, const V& core,
                                             const V& accumulation, const V& additive) {
  const V before = core + accumulation + additive;
  return before + store.error(magnitude + before);
}

/// Equation E25: returns the radius of a reference in double, computed from the kernel's rigorous
/// terms. Each term is a convex function of the unit roundoffs and is 0 if they are 0. The unit
/// roundoffs of double are at least 2^27 times smaller than the kernel's, so the error is at most
/// 2^-27 of the terms.
template <class V>
[[gnu::always_inline]] inline V reference_radius(const V& rigorous, const V& accumulation) {
  return 0x1p-27 * (rigorous + accumulation);
}

/// blocks/README B3: the largest error of a sum of exact products in double, in any order.
template <class V>
[[gnu::always_inline]] inline V sum_radius(const ElementOf<V>& x) {
  return ((x.terms + 4) * 0x1p-53) * x.magnitude;
}

/// README A11: the error that the additions of an element cause, divided by the magnitude of the
/// element.
struct Chain {
  double worst = 0, likely = 0;
  double lost = 0;  ///< largest loss of all additions by underflow (absolute)
  /// The variance of this error is the sum of three terms, each with one of these factors: the sum
  /// of the squares of the summands; the square of the sum; the square of the largest loss by
  /// underflow.
  double of_squares = 0, of_value = 0, of_worst = 0;
};

/// A sum whose parts a kernel rounds before it adds them.
struct Parts {
  double u = 0, lost = 0;  ///< of the type: unit roundoff, half the smallest number; 0: exact
  double count = 0;
};

/// How a kernel sums and writes an output.
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

/// README A11: returns the errors of adding `terms` summands in any order. Their mean is 0 if the
/// errors of the output's stores have mean 0.
inline Chain chain_of(double terms, const Output& output) {
  const double worst = worst_chain(terms);
  const bool averages = output.averages && !output.units.truncating;
  return {.worst = worst,
          .likely = averages ? probable_chain(worst, terms, output.lambda) : worst,
          .of_squares = terms / 3,
          .of_value = terms / 3};
}

/// Bounds of |kernel's result - `value`|: `proven` in the worst case; `probable` holds with the
/// probability that lambda gives. `radius` bounds the error that double causes in `value`. For a
/// correct kernel, the error has the mean `drift` and the standard deviation `deviation`.
template <class V>
struct Bound {
  V value{}, radius{}, probable{}, proven{}, deviation{}, floor{}, drift{};
  V core{}, accumulation{}, additive{};  ///< parts of `probable`, before the last store
  V rigorous{}, largest{};  ///< largest error of the summands; of the terms that are added
};

/// Equation E22: returns the error of rounding the parts of a sum. `partials` is the sum of the
/// absolute values of the parts.
template <class V>
[[gnu::always_inline]] inline V partial_error(const Parts& parts, const V& partials,
                                              const V& reference, const V& core) {
  return parts.u * partials + 2.0 * parts.u * (reference + core) + (parts.count + 2) * parts.lost;
}

/// Equation E26: returns the variance of an element of a correct kernel. `worst`, `part` and
/// `scaled` are the errors of the element's additions, of its parts, and of an operand that was
/// scaled in advance.
template <class V>
[[gnu::always_inline]] inline V element_variance(const ElementOf<V>& x, const Output& output,
                                                 const V& worst, const V& part, const V& scaled,
                                                 const V& floor) {
  const double size = magnitude_of(output.factor), squared = square(output.factor);
  const V reference = size * magnitude_of(x.value), summands = squared * x.value_squares;
  const Chain& chain = output.chain;
  const V added = chain.of_value * square(reference) + chain.of_squares * summands;
  // An error that all pairs share does not average out, so its largest value counts. Masked pairs
  // may add up to the floor, which matters if the value is not much larger than the floor.
  const V constants = size * (magnitude_of(x.by_constant[0]) + magnitude_of(x.by_constant[1]));
  return squared * x.moment / 3.0 + square(size * x.shared) / 81.0 + square(constants) +
         square(output.units.u_sum) * added + chain.of_worst * square(worst) +
         square(output.store.error(reference)) / 3.0 + square(output.operands) * summands / 6.0 +
         square(part) / 6.0 + square(scaled) / 12.0 +
         square(output.roundings * output.units.u * reference) / 3.0 + square(floor);
}

/// Factor for the rounding of the bounds themselves, which are computed in double.
inline constexpr double bound_slack = 1 + 0x1p-40;

/// Maps NaN to infinity: a bound that overflowed gives no limit.
template <class V>
[[gnu::always_inline]] inline V known(const V& limit) {
  return limit != limit ? filled<V>(HUGE_VAL) : limit;
}

/// README A10 to A12, equation E15: returns the bound of an element. `floor` is the largest amount
/// that masked pairs may add to the element.
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
