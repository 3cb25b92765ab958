#pragma once

#include <compare>
#include <cstdint>

namespace assay::device {

/// A number of one unit; numbers of different units do not mix.
template <class Unit, class Number>
struct Measure {
  Number count{};

  friend constexpr auto operator<=>(const Measure&, const Measure&) = default;
  friend constexpr Measure operator+(Measure x, Measure y) { return {x.count + y.count}; }
  friend constexpr Measure operator-(Measure x, Measure y) { return {x.count - y.count}; }
  friend constexpr Measure operator*(Number factor, Measure x) { return {factor * x.count}; }
  constexpr Measure& operator+=(Measure y) { return *this = *this + y; }
};

using Bytes = Measure<struct ByteUnit, std::int64_t>;
/// Cycles of one core's clock; costs are rates, hence fractions.
using Cycles = Measure<struct CycleUnit, double>;

/// The smallest multiple of `unit` that is not less than `value`.
constexpr std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}
constexpr std::int64_t ceil_divide(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit;
}

}  // namespace assay::device
