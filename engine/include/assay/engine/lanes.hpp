#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

/// `Lanes` is a SIMD vector of doubles, so that one template evaluates a formula for one pair or
/// for several. Every function gives each lane the same bits as the function for a single double:
/// it uses only IEEE 754 operations, and the compiler does not contract them to fused
/// multiply-adds.
namespace assay::engine {

/// The number of doubles in a register of the instruction set for which this file is compiled.
/// Longer vectors would be slow: GCC 12 would compare their elements one by one.
#if defined(__AVX512F__)
constexpr int register_lanes = 8;
#elif defined(__AVX2__)
constexpr int register_lanes = 4;
#else
constexpr int register_lanes = 2;
#endif
/// The largest number of lanes of all instruction sets.
inline constexpr int most_lanes = 8;

/// Numbers of adjacent pairs (query row, key), one in each lane.
typedef double Lanes __attribute__((vector_size(register_lanes * sizeof(double))));
/// The bits of the doubles of `Lanes`, as integers.
typedef std::int64_t LaneBits __attribute__((vector_size(register_lanes * sizeof(double))));
/// As many floats as `Lanes` has doubles. Magnitudes and squares are stored as floats.
typedef float FloatLanes __attribute__((vector_size(register_lanes * sizeof(float))));

/// The number of doubles in the type V: 1 for double, `register_lanes` for Lanes.
template <class V>
inline constexpr int lanes_of = sizeof(V) / sizeof(double);

[[gnu::always_inline]] inline std::int64_t bits_of(double x) {
  return std::bit_cast<std::int64_t>(x);
}
[[gnu::always_inline]] inline double number_of(std::int64_t x) { return std::bit_cast<double>(x); }
[[gnu::always_inline]] inline LaneBits bits_of(const Lanes& x) {
  return reinterpret_cast<LaneBits>(x);
}
[[gnu::always_inline]] inline Lanes number_of(const LaneBits& x) {
  return reinterpret_cast<Lanes>(x);
}

/// Returns a V with x in every lane.
template <class V>
[[gnu::always_inline]] inline V filled(double x) {
  return V{} + x;
}

/// Returns |x|, lane by lane. The function also accepts scalars of any type.
template <class V>
[[gnu::always_inline]] inline V magnitude_of(const V& x) {
  if constexpr (std::is_same_v<V, double> || std::is_same_v<V, Lanes>) {
    return number_of(bits_of(x) & 0x7fffffffffffffff);
  } else {
    return x < 0 ? V(-x) : x;
  }
}

template <class V>
[[gnu::always_inline]] inline V square(const V& x) {
  return x * x;
}
template <class V>
[[gnu::always_inline]] inline V larger_of(const V& a, const V& b) {
  return a > b ? a : b;
}
template <class V>
[[gnu::always_inline]] inline V smaller_of(const V& a, const V& b) {
  return a < b ? a : b;
}

[[gnu::always_inline]] inline double root_of(double x) { return __builtin_sqrt(x); }
[[gnu::always_inline]] inline Lanes root_of(const Lanes& x) {
  Lanes root{};
  for (int k = 0; k < lanes_of<Lanes>; ++k) root[k] = __builtin_sqrt(x[k]);
  return root;
}

/// 2^floor(log2 |x|) of a normal number; 0 for 0 and subnormal numbers.
template <class V>
[[gnu::always_inline]] inline V leading_power(const V& x) {
  return number_of(bits_of(x) & 0x7ff0000000000000);
}

/// The integer nearest to x, for |x| < 2^51; ties round to even.
template <class V>
[[gnu::always_inline]] inline V whole_of(const V& x) {
  return (x + 0x1.8p52) - 0x1.8p52;
}

/// Largest relative error of `exponential` if e^x is a normal number (engine/blocks/README.md, B2).
inline constexpr double exponential_error = 0x1p-49;

/// e^x, computed with sums and products only. Results below 2^-1022 become 0, results beyond the
/// largest double become infinity; NaN stays NaN.
template <class V>
[[gnu::always_inline]] inline V exponential(const V& x) {
  constexpr double log2_e = 0x1.71547652b82fep0, to_integer = 0x1.8p52;
  // The upper part of ln 2 has 33 bits, so that its product with the integer k is exact.
  constexpr double ln2_upper = 0x1.62e42feep-1, ln2_lower = 0x1.a39ef35793c76p-33;
  V clamped = x < -709.0 ? filled<V>(-709.0) : x;
  clamped = clamped > 710.0 ? filled<V>(710.0) : clamped;
  const V shifted = clamped * log2_e + to_integer;
  const V k = shifted - to_integer;
  const V r = (clamped - k * ln2_upper) - k * ln2_lower;
  V power = filled<V>(1.0 / 6227020800.0);
  for (const double coefficient :
       {1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0, 1.0 / 362880.0, 1.0 / 40320.0,
        1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0})
    power = power * r + coefficient;
  // Multiplies by 2^k by adding k to the exponent bits. If the true result is below 2^-1022, the
  // bits form a tiny or negative number, which the next line replaces by 0.
  V value = number_of(bits_of(power) + (bits_of(shifted) << 52));
  value = value < 0x1p-1022 ? V{} : value;
  value = x > 0x1.62e42fefa39efp9 ? filled<V>(HUGE_VAL) : value;
  return x != x ? x : value;
}

/// Returns an upper bound of e^x - 1 for x >= 0.
template <class V>
[[gnu::always_inline]] inline V growth(const V& x) {
  const V far = (exponential(x) - 1.0) * (1 + 0x1p-36);
  return x < 0x1p-12 ? x * (1.0 + x) : far;
}

/// Returns e^error - 1, an upper bound of the relative error of e^x if x has an error of at most
/// `error`. Returns 0 if x + error < -709, because e^x is then below the smallest normal number.
template <class V>
[[gnu::always_inline]] inline V growth_at(const V& x, const V& error) {
  constexpr double vanishing = -709.0;
  return x + error < vanishing ? V{} : growth(error);
}

}  // namespace assay::engine
