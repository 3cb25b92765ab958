#pragma once

#include <compare>
#include <cstdint>

namespace assay::device {

/// A number with a unit. Numbers with different units cannot be mixed.
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
/// A number of clock cycles of one core. The number may be fractional, because costs are computed
/// from rates.
using Cycles = Measure<struct CycleUnit, double>;

/// Rounds `value` up to a multiple of `unit`.
constexpr std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}
constexpr std::int64_t ceil_divide(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit;
}

}  // namespace assay::device
