#include "assay/engine/algebra/store.hpp"

#include <cmath>

namespace assay::engine {

Store::Store(int bits, int min_exponent, Direction direction, double overflow)
    : overflow_(overflow) {
  known_ = direction == Direction::nearest_even || direction == Direction::nearest_away ||
           direction == Direction::nearest;
  away_ = direction == Direction::nearest_away;
  // Stochastic rounding does not count as rounding with mean error 0: its mean error is 0 only for
  // exact values, and some kernels use a biased random generator for it.
  mean_free_ = known_;
  capped_ = direction != Direction::stochastic;
  const double whole_steps = known_ ? 1 : 2;
  unit_ = whole_steps * std::ldexp(1.0, -bits);
  lost_ = least_ = whole_steps * std::ldexp(1.0, min_exponent - bits);
}

}  // namespace assay::engine
