#pragma once

#include <algorithm>
#include <cmath>

#include "assay/engine/lanes.hpp"

namespace assay::engine {

/// How a store rounds. `nearest`: to the nearest number; how ties are rounded is unknown.
enum class Direction { nearest_even, nearest_away, nearest, truncated, stochastic };

/// A narrower type to which a kernel rounds the values that it stores. A default-constructed Store
/// rounds nothing.
class Store {
 public:
  Store() = default;
  /// Describes a type with `bits` bits of significand, including the leading bit, whose smallest
  /// normal number is 2^min_exponent: bfloat16 is (8, -126), half precision (11, -14). Values of at
  /// least `overflow` become infinite, if the caller asks to detect overflow.
  Store(int bits, int min_exponent, Direction direction, double overflow = HUGE_VAL);

  /// Returns this store for a device that flushes small numbers to zero, which changes a number by
  /// up to `least`.
  Store losing(double least) const {
    Store store = *this;
    store.lost_ = std::max(lost_, least);
    return store;
  }

  bool rounds() const { return unit_ > 0; }
  /// Returns whether rounding errors have mean 0 if nothing is known about the values.
  bool mean_free() const { return mean_free_; }

  /// README A2: returns h, the largest error of storing a number of at most that size.
  template <class V>
  [[gnu::always_inline]] V error(const V& size) const {
    const V step = larger_of(unit_ * leading_power(size), filled<V>(lost_));
    const V error = capped_ ? smaller_of(size, step) : step;
    return size > 0.0 ? error : V{};
  }

  /// README A2: returns the largest error if a kernel multiplies a number of at most that size by
  /// an unknown factor of at least 1, stores the product, and later divides by the factor.
  template <class V>
  [[gnu::always_inline]] V error_at_any_scale(const V& size) const {
    const V step = larger_of(V(unit_ * size), filled<V>(lost_));
    return capped_ ? smaller_of(size, step) : step;
  }

  /// Returns 1 if a number of that size may become infinite, else 0.
  template <class V>
  [[gnu::always_inline]] V overflows(const V& size) const {
    return size >= overflow_ ? filled<V>(1.0) : V{};
  }
  /// Returns whether overflow is detected.
  bool watches_overflow() const { return overflow_ != HUGE_VAL; }
  /// Returns whether the rounding error of some values is known.
  bool drifts() const { return known_; }

  /// README A3, E2: the error of storing this value if it is known. Returns 0 if the error is not
  /// known: if an error of size `noise` in the value may change the rounded result, or if the store
  /// does not round to nearest.
  template <class V>
  [[gnu::always_inline]] V drift(const V& value, const V& noise) const {
    if (!known_) return V{};
    const V step = larger_of(2 * unit_ * leading_power(value), filled<V>(2 * least_));
    const V steps = magnitude_of(value / step);
    const V even = whole_of(steps);
    // A tie: the exact middle between two numbers. Ties to even: a kernel rounds down if the lower
    // number is even. Ties away from zero: it rounds up.
    const V nearest = away_ ? (steps - even == 0.5 ? even + 1.0 : even) : even;
    const V rounded = value < 0.0 ? -nearest : nearest;
    const V to_tie = (0.5 - magnitude_of(nearest - steps)) * step;
    const V drift = rounded * step - value;
    const V kept = noise <= to_tie ? drift : V{};
    return noise <= 0x1p-4 * step ? drift : kept;
  }

 private:
  double unit_ = 0, least_ = 0;  ///< half a step: relative; absolute for subnormal numbers
  double lost_ = 0;              ///< largest error of the smallest numbers
  double overflow_ = HUGE_VAL;
  bool capped_ = true, known_ = false, away_ = false, mean_free_ = true;
};

}  // namespace assay::engine
