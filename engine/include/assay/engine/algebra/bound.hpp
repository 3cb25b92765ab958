#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "assay/engine/algebra/reading.hpp"
#include "assay/engine/algebra/store.hpp"
#include "assay/engine/algebra/sum.hpp"
#include "assay/engine/lanes.hpp"

/// The last step of every bound (README, A10 to A12), of one element or of eight side by side: from
/// the sums of an element to what a kernel that writes it may differ by.
namespace assay::engine {

/// A10, E18. Returns lambda: so many sums without mean all stay below lambda roots of their squares
/// but with probability `alpha` (Azuma).
double mean_free_factor(std::int64_t sums, double alpha);

/// A10, E19. Returns what errors amount to with high probability: what stores are known to add,
/// lambda roots of the squares of what is mean-free, and what has a sign.
template <class V>
[[gnu::always_inline]] inline V probable_error(const V& drift, double lambda, const V& squares,
                                               const V& shared) {
  return magnitude_of(drift) + lambda * root_of(squares) + shared;
}

/// A10, E20. Returns the smaller of both where roundings average out, else the worst case.
template <class V>
[[gnu::always_inline]] inline V core_error(const V& rigorous, const V& probable, bool averages) {
  return averages ? (probable < rigorous ? probable : rigorous) : rigorous;
}

/// A11, E21. Returns how many units of magnitude a sum of `terms` summands accumulates at most.
inline double worst_chain(double terms) { return terms + 4; }

/// A11, E21. Returns the same with high probability, `worst` where that is less.
inline double probable_chain(double worst, double terms, double lambda) {
  return std::min(worst, lambda * std::sqrt(terms) + 4);
}

/// A12, E24. Returns core, accumulation and what is beside them, and the store of all that and of
/// `magnitude`, the size of the reference.
template <class V>
[[gnu::always_inline]] inline V tolerance_of(const Store& store, const V& magnitude, const V& core,
                                             const V& accumulation, const V& beside) {
  const V before = core + accumulation + beside;
  return before + store.error(magnitude + before);
}

/// E25. Returns the radius of a reference in double whose rigorous terms are these. Every one of
/// them is convex in the unit roundoffs and 0 at 0: with double's units, at least 2^27 times
/// smaller, the same formula bounds the error by that share.
template <class V>
[[gnu::always_inline]] inline V reference_radius(const V& rigorous, const V& accumulation) {
  return 0x1p-27 * (rigorous + accumulation);
}

/// B3. Returns how far a sum of exact products in double may be off, added in any order.
template <class V>
[[gnu::always_inline]] inline V sum_radius(const ElementOf<V>& x) {
  return ((x.terms + 4) * 0x1p-53) * x.magnitude;
}

/// A11. The additions that make an element, in units of its magnitude.
struct Chain {
  double worst = 0, likely = 0;
  double lost = 0;  ///< what all of them may lose beside, where they underflow
  /// Their variance, in squares of units: so much for each square of a summand, of the sum, and of
  /// all that they may lose.
  double of_squares = 0, of_value = 0, of_worst = 0;
};

/// Parts of a sum that a kernel rounds by themselves, and adds.
struct Parts {
  double u = 0, lost = 0;  ///< unit roundoff, and half the smallest number; 0: nothing is rounded
  double count = 0;
};

/// How a kernel sums and writes an output.
struct Output {
  Units units;
  double factor = 1;     ///< the sum is multiplied by it
  double roundings = 0;  ///< of the sum in fp32, as two by such a factor
  double lambda = 0;     ///< A10
  bool averages = true;  ///< all stores round without mean
  Store store;           ///< type of the output
  Chain chain;
  Parts parts;
  double operands = 0;  ///< units of both operands of the last product where they are narrowed
  double scaled = 0;    ///< of one that was scaled in advance, and what that lost
  double lost = 0;
};

/// A11. Returns a chain of so many summands in any order; without mean if the output's are.
inline Chain chain_of(double terms, const Output& output) {
  const double worst = worst_chain(terms);
  const bool averages = output.averages && !output.units.truncating;
  return {.worst = worst,
          .likely = averages ? probable_chain(worst, terms, output.lambda) : worst,
          .of_squares = terms / 3,
          .of_value = terms / 3};
}

/// What a kernel may differ by from `value`: `proven` at worst, `probable` with a probability that
/// lambda says. `radius` encloses the value as double has it, `deviation` is that of a healthy
/// kernel, of which `drift` is known.
template <class V>
struct Bound {
  V value{}, radius{}, probable{}, proven{}, deviation{}, floor{}, drift{};
  V core{}, accumulation{}, beside{};  ///< of `probable`, before the last store
  V rigorous{}, largest{};             ///< worst case of the summands; of what is added up
};

/// E22. Returns what rounding the parts of a sum adds, whose values add up to `partials`.
template <class V>
[[gnu::always_inline]] inline V partial_error(const Parts& parts, const V& partials,
                                              const V& reference, const V& core) {
  return parts.u * partials + 2.0 * parts.u * (reference + core) + (parts.count + 2) * parts.lost;
}

/// E26. Returns the variance of a healthy element; `worst`, `part` and `scaled` are what its
/// additions, its parts and a scaled operand may add.
template <class V>
[[gnu::always_inline]] inline V element_variance(const ElementOf<V>& x, const Output& output,
                                                 const V& worst, const V& part, const V& scaled,
                                                 const V& floor) {
  const double size = magnitude_of(output.factor), squared = square(output.factor);
  const V reference = size * magnitude_of(x.value), summands = squared * x.value_squares;
  const Chain& chain = output.chain;
  const V added = chain.of_value * square(reference) + chain.of_squares * summands;
  // What all pairs share is one error, no matter of chance: it is taken at its largest. Residues of
  // masked pairs are as large as the floor; they matter where the value is barely larger.
  const V constants = size * (magnitude_of(x.by_constant[0]) + magnitude_of(x.by_constant[1]));
  return squared * x.moment / 3.0 + square(size * x.shared) / 81.0 + square(constants) +
         square(output.units.u_sum) * added + chain.of_worst * square(worst) +
         square(output.store.error(reference)) / 3.0 + square(output.operands) * summands / 6.0 +
         square(part) / 6.0 + square(scaled) / 12.0 +
         square(output.roundings * output.units.u * reference) / 3.0 + square(floor);
}

/// The bounds themselves are computed in double; so much hides what that rounds.
inline constexpr double bound_slack = 1 + 0x1p-40;

/// Nothing is known of what overflowed.
template <class V>
[[gnu::always_inline]] inline V known(const V& limit) {
  return limit != limit ? filled<V>(HUGE_VAL) : limit;
}

/// A10 to A12, E15. Returns the bound of an element, of which masked pairs may leave `floor`.
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
  bound.beside = output.operands * total + scaled + output.roundings * output.units.u * reference +
                 part + floor;
  bound.radius = known(V(reference_radius(bound.rigorous, worst) + 0x1p-52 * reference));
  bound.probable =
      known(tolerance_of(output.store, reference, bound.core, bound.accumulation, bound.beside));
  bound.proven = known(tolerance_of(output.store, reference, bound.rigorous, worst, bound.beside));
  bound.deviation = root_of(element_variance(x, output, worst, part, scaled, floor));
  return bound;
}

}  // namespace assay::engine
