#include "judge/elements/lane_loops.hpp"

#include <algorithm>
#include <limits>

/// This file is compiled once for each instruction set (macro ASSAY_INSTRUCTIONS).
namespace assay::conformance {
namespace {

using engine::LaneBits;
using engine::Lanes;
using engine::magnitude_of;
using Compiled = engine::CompiledFor<engine::Instructions::ASSAY_INSTRUCTIONS>;

constexpr std::int64_t lanes = engine::lanes_of<Lanes>;
constexpr double largest = std::numeric_limits<double>::max();

/// Returns the numbers from index k on. Lanes after the last number contain `fill`.
[[gnu::always_inline]] inline Lanes lanes_from(const double* numbers, std::int64_t k,
                                               std::int64_t count, double fill) {
  Lanes x = engine::filled<Lanes>(fill);
  if (count - k >= lanes)  // a constant length: the compiler copies without a function call
    __builtin_memcpy(&x, numbers + k, sizeof x);
  else
    __builtin_memcpy(&x, numbers + k, static_cast<std::size_t>(count - k) * sizeof(double));
  return x;
}
template <class V, class T>
[[gnu::always_inline]] inline void put(T* numbers, std::int64_t k, std::int64_t count, const V& x) {
  if (count - k >= lanes)
    __builtin_memcpy(numbers + k, &x, sizeof x);
  else
    __builtin_memcpy(numbers + k, &x, static_cast<std::size_t>(count - k) * sizeof(T));
}

[[gnu::always_inline]] inline bool is_set(const LaneBits& bits) {
  std::int64_t any = 0;
  for (int k = 0; k < lanes; ++k) any |= bits[k];
  return any != 0;
}

/// Returns the largest integers that are not above x; |x| < 2^50.
[[gnu::always_inline]] inline Lanes floor_of(const Lanes& x) {
  const Lanes nearest = engine::whole_of(x);
  return nearest > x ? nearest - 1.0 : nearest;
}

/// Rounds magnitudes below 2^50 to the nearest integer. Ties round away from zero if `away` is
/// true, else to even.
[[gnu::always_inline]] inline Lanes rounded_magnitude(const Lanes& magnitude, bool away) {
  return away ? floor_of(magnitude + 0.5) : engine::whole_of(magnitude);
}

/// Returns the magnitude of CastSteps::offset (distance to the nearest rounding boundary) for a
/// cast to nearest.
[[gnu::always_inline]] inline Lanes offset_of(const Lanes& size, const NearestSteps& steps) {
  const LaneBits is_normal = size >= steps.least_normal;
  const Lanes power = is_normal ? engine::leading_power(size) : Lanes{};
  const Lanes step =
      is_normal ? power * steps.relative_step : engine::filled<Lanes>(steps.least_step);
  const Lanes beyond = size - power, count = beyond / step;
  const Lanes offset = magnitude_of(beyond - step * floor_of(count) - step / 2.0);
  const Lanes of_power = beyond + step / 4.0;  // below a power of two steps are half as wide
  return (is_normal & (of_power < offset)) ? of_power : offset;
}

}  // namespace

template <>
bool all_within(Compiled, const RowNumbers& row, double share, double* ratios) {
  LaneBits wrong{};
  for (std::int64_t k = 0; k < row.count; k += lanes) {
    const auto at = [&](const double* numbers) __attribute__((always_inline)) {
      return lanes_from(numbers, k, row.count, 0);
    };
    const Lanes value = at(row.value), radius = at(row.radius), tau = at(row.tau);
    const Lanes actual = at(row.actual), error = magnitude_of(actual - value);
    const Lanes limit = tau + radius, ratio = error / limit;
    put(ratios, k, row.count, error == 0.0 ? Lanes{} : ratio);
    wrong |= ~((radius <= largest) & (magnitude_of(actual) <= largest) &
               (magnitude_of(value) + at(row.tau_det) < 0x1p15) & (error <= limit));
    wrong |= (tau > at(row.floor)) & (radius > share * tau);
  }
  return !is_set(wrong);
}

template <>
void fill_moments(Compiled, const RowNumbers& row, const Arithmetic& arithmetic,
                  const MomentRow& to) {
  const double unit = 2 * unit_roundoff(arithmetic.io), least = 2 * underflow_of(arithmetic.io);
  const bool is_narrow = unit > 0, away = arithmetic.numerics.round_out == spec::Rounding::rna;
  // Below this limit the error of the cast is not random.
  const double coarse = coarsest_of(arithmetic.io);
  // eta_out is half the smallest subnormal number of the type, and u_out is its unit roundoff.
  // Therefore the quotient is the smallest normal number.
  const double normal = is_narrow ? arithmetic.eta_out / arithmetic.u_out : 0;
  for (std::int64_t k = 0; k < row.count; k += lanes) {
    const auto at = [&](const double* numbers) __attribute__((always_inline)) {
      return lanes_from(numbers, k, row.count, 1);
    };
    const Lanes value = at(row.value), sigma = at(row.sigma), drift = at(row.drift);
    const Lanes actual = at(row.actual), size = magnitude_of(value), healthy = value + drift;
    // A value of at most tau may consist of rounding errors only, and a correct kernel need not
    // reproduce it.
    put(to.is_informative, k, row.count,
        (size > at(row.tau)) & (sigma > 0.0) & (magnitude_of(actual) <= largest) &
            ~(size < coarse));
    put(to.error, k, row.count, (actual - value - drift) / sigma);
    const Lanes healthy_size = magnitude_of(healthy);
    const Lanes relative = unit * engine::leading_power(healthy_size);
    const Lanes step = relative < least ? engine::filled<Lanes>(least) : relative;
    const Lanes steps = healthy_size / step;
    const Lanes whole = rounded_magnitude(steps, away);
    const Lanes of_cast = (healthy < 0.0 ? -whole : whole) * step - healthy;
    put(to.of_cast, k, row.count, (is_narrow ? of_cast : Lanes{}) / sigma);
    // The sign of the error is known for a subnormal number, and for a tie that rounds away from
    // zero.
    const LaneBits is_tie = magnitude_of(steps - floor_of(steps) - 0.5) < 0x1p-7;
    const LaneBits is_subnormal = healthy_size < normal;
    put(to.is_biased, k, row.count, is_narrow && away ? is_subnormal | is_tie : is_subnormal);
  }
}

template <>
bool all_certain(Compiled, const RowNumbers& row, double share, const NearestSteps& steps) {
  LaneBits wrong{};
  for (std::int64_t k = 0; k < row.count; k += lanes) {
    const auto at = [&](const double* numbers) __attribute__((always_inline)) {
      return lanes_from(numbers, k, row.count, 0);
    };
    const Lanes size = magnitude_of(at(row.value)), radius = at(row.radius), tau = at(row.tau);
    const LaneBits is_narrow =
        (radius <= largest) & ((radius <= share * tau) | (tau <= at(row.floor)));
    const LaneBits is_decided = (radius == 0.0) | (radius < offset_of(size, steps));
    wrong |= ~(is_narrow & is_decided & (size <= largest));
  }
  return !is_set(wrong);
}

template <>
double largest_radius(Compiled, const RowNumbers& row) {
  Lanes most{};
  for (std::int64_t k = 0; k < row.count; k += lanes) {
    const auto at = [&](const double* numbers) __attribute__((always_inline)) {
      return lanes_from(numbers, k, row.count, 0);
    };
    const Lanes tau = at(row.tau), ratio = at(row.radius) / tau;
    const LaneBits counts = (tau > at(row.floor)) & (tau <= largest) & (ratio > most);
    most = counts ? ratio : most;
  }
  double largest_of_all = 0;
  for (int k = 0; k < lanes; ++k) largest_of_all = std::max(largest_of_all, most[k]);
  return largest_of_all;
}

}  // namespace assay::conformance
