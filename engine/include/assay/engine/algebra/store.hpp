#pragma once

#include <algorithm>
#include <cmath>

#include "assay/engine/lanes.hpp"

namespace assay::engine {

/// How a store rounds. `nearest`: the rule of ties is not known.
enum class Direction { nearest_even, nearest_away, nearest, truncated, stochastic };

/// A type of fewer bits to which a kernel rounds what it stores. As made by default it rounds
/// nothing: what is stored has the precision of what is computed.
class Store {
 public:
  Store() = default;
  /// Of a type with so many bits of significand, the leading one counted, whose smallest normal
  /// number is 2^min_exponent: bfloat16 is (8, -126), half precision (11, -14).
  /// From `overflow` on it becomes infinite, where that has to be watched.
  Store(int bits, int min_exponent, Direction direction, double overflow = HUGE_VAL);

  /// The same store on a device that may lose `least` of numbers however small.
  Store losing(double least) const {
    Store store = *this;
    store.lost_ = std::max(lost_, least);
    return store;
  }

  bool rounds() const { return unit_ > 0; }
  /// Whether its roundings have no mean where nothing is known of the values.
  bool mean_free() const { return mean_free_; }

  /// A2. Returns h, the largest error of storing a number of that size or less.
  template <class V>
  [[gnu::always_inline]] V error(const V& size) const {
    const V step = larger_of(unit_ * leading_power(size), filled<V>(lost_));
    const V error = capped_ ? smaller_of(size, step) : step;
    return size > 0.0 ? error : V{};
  }

  /// Returns 1 where a number of that size may become infinite, else 0.
  template <class V>
  [[gnu::always_inline]] V overflows(const V& size) const {
    return size >= overflow_ ? filled<V>(1.0) : V{};
  }
  /// Whether such sizes are watched.
  bool watches_overflow() const { return overflow_ != HUGE_VAL; }
  /// Whether what it adds is known of some values.
  bool drifts() const { return known_; }

  /// A3, E2. Returns what storing this value is known to add: 0 where noise of that size may carry
  /// it to another number, or where the store does not round to nearest.
  template <class V>
  [[gnu::always_inline]] V drift(const V& value, const V& noise) const {
    if (!known_) return V{};
    const V step = larger_of(2 * unit_ * leading_power(value), filled<V>(2 * least_));
    const V steps = magnitude_of(value / step);
    const V even = whole_of(steps);
    // Half a step above an even number goes down, and up where ties go away from zero.
    const V nearest = away_ ? (steps - even == 0.5 ? even + 1.0 : even) : even;
    const V rounded = value < 0.0 ? -nearest : nearest;
    const V to_tie = (0.5 - magnitude_of(nearest - steps)) * step;
    const V drift = rounded * step - value;
    const V kept = noise <= to_tie ? drift : V{};
    return noise <= 0x1p-4 * step ? drift : kept;
  }

 private:
  double unit_ = 0, least_ = 0;  ///< half a step: relative, and of numbers that are not normal
  double lost_ = 0;              ///< largest error of the smallest numbers
  double overflow_ = HUGE_VAL;
  bool capped_ = true, known_ = false, away_ = false, mean_free_ = true;
};

}  // namespace assay::engine
