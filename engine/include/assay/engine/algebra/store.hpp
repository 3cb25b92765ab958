#pragma once

#include <algorithm>
#include <cmath>

#include "assay/engine/lanes.hpp"

namespace assay::engine {

/// How a kernel rounds to a narrower type. `nearest` does not say how ties are rounded.
enum class Direction { nearest_even, nearest_away, nearest, truncated, stochastic };

/// Models the rounding to a narrower type when a kernel stores a value. A default-constructed Store
/// rounds nothing.
class Store {
 public:
  Store() = default;
  /// Describes a type with `bits` bits of significand (including the leading bit) and the smallest
  /// normal number 2^min_exponent: bfloat16 is (8, -126), half precision (11, -14). Values of at
  /// least `overflow` become infinite; the default detects no overflow.
  Store(int bits, int min_exponent, Direction direction, double overflow = HUGE_VAL);

  /// Returns this store for a device that flushes small numbers to zero. Such a flush changes a
  /// number by up to `least`.
  Store losing(double least) const {
    Store store = *this;
    store.lost_ = std::max(lost_, least);
    return store;
  }

  /// Returns this store for a kernel that may multiply the rounded number by `factor` later. Then
  /// the largest error of the smallest numbers grows by this factor.
  Store multiplied_later(double factor) const {
    Store store = *this;
    store.lost_ = lost_ * std::max(1.0, factor);
    return store;
  }

  bool rounds() const { return unit_ > 0; }
  /// Returns whether the rounding error of an unknown value has mean 0.
  bool mean_free() const { return mean_free_; }

  /// Returns the largest rounding error for a number of magnitude up to `size` (engine/README.md,
  /// A2).
  template <class V>
  [[gnu::always_inline]] V error(const V& size) const {
    const V step = larger_of(unit_ * leading_power(size), filled<V>(lost_));
    const V error = capped_ ? smaller_of(size, step) : step;
    return size > 0.0 ? error : V{};
  }

  /// Returns the largest rounding error if the kernel multiplies a number by an unknown factor of
  /// at least 1, rounds the product, and divides by the factor later. The number has a magnitude up
  /// to `size` (engine/README.md, A2).
  template <class V>
  [[gnu::always_inline]] V error_at_any_scale(const V& size) const {
    const V step = larger_of(V(unit_ * size), filled<V>(lost_));
    return capped_ ? smaller_of(size, step) : step;
  }

  /// Returns 1 if a number of magnitude `size` may become infinite, else 0.
  template <class V>
  [[gnu::always_inline]] V overflows(const V& size) const {
    return size >= overflow_ ? filled<V>(1.0) : V{};
  }
  /// Returns whether this store detects overflow.
  bool watches_overflow() const { return overflow_ != HUGE_VAL; }
  /// Returns whether the rounding error of a known value can be computed. This is possible only for
  /// rounding to nearest.
  bool drifts() const { return known_; }

  /// Returns the rounding error of `value` (engine/README.md, A3; docs/bound.md, E2). Returns 0 if
  /// the error is unknown: the store does not round to nearest, or an error of size `noise` in the
  /// value could change the rounded result.
  template <class V>
  [[gnu::always_inline]] V drift(const V& value, const V& noise) const {
    if (!known_) return V{};
    const V step = larger_of(2 * unit_ * leading_power(value), filled<V>(2 * least_));
    const V steps = magnitude_of(value / step);
    const V even = whole_of(steps);
    // A tie is the exact middle between two neighbours. "Ties to even" rounds a tie to the
    // neighbour with an even last bit; "ties away" rounds a tie away from zero.
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
