#pragma once

#include <bit>
#include <cstdint>

namespace assay::reference {

/// Largest relative error of `exp` for x <= 0 if e^x is at least 2^-1022.
inline constexpr double exp_error = 0x1p-49;

/// e^x from IEEE 754 operations only. The bits are the same on every machine, at every optimisation
/// level and SIMD width, if the compiler contracts nothing (-ffp-contract=off). The function has no
/// branches, so that compilers vectorise a loop over it.
///
/// Method: e^x = 2^k e^r with k = round(x / ln 2) and |r| <= (ln 2) / 2. A Taylor polynomial of
/// degree 13 gives e^r; its remainder is below 2^-57 e^r.
/// Errors: results below 2^-1022 become 0, results beyond the largest double become infinity; NaN
/// stays NaN; e^0 = 1.
[[gnu::always_inline]] inline double exp(double x) {
  constexpr double log2_e = 0x1.71547652b82fep0;
  // The upper part of ln 2 has 33 bits, so that its product with the integer k is exact.
  constexpr double ln2_upper = 0x1.62e42feep-1, ln2_lower = 0x1.a39ef35793c76p-33;
  // Adding this constant to a small number rounds the number to an integer, which is then in the
  // lowest bits of the sum.
  constexpr double to_integer = 0x1.8p52;

  const double above = x < -709.0 ? -709.0 : x;
  const double clamped = above > 710.0 ? 710.0 : above;
  const double shifted = clamped * log2_e + to_integer;
  const double k = shifted - to_integer;
  const double r = (clamped - k * ln2_upper) - k * ln2_lower;

  double power = 1.0 / 6227020800.0;
  power = power * r + 1.0 / 479001600.0;
  power = power * r + 1.0 / 39916800.0;
  power = power * r + 1.0 / 3628800.0;
  power = power * r + 1.0 / 362880.0;
  power = power * r + 1.0 / 40320.0;
  power = power * r + 1.0 / 5040.0;
  power = power * r + 1.0 / 720.0;
  power = power * r + 1.0 / 120.0;
  power = power * r + 1.0 / 24.0;
  power = power * r + 1.0 / 6.0;
  power = power * r + 0.5;
  power = power * r + 1.0;
  power = power * r + 1.0;

  // Multiplies by 2^k by adding k to the exponent bits. Below 2^-1022 the bits form a tiny or
  // negative number, which the next line replaces by 0.
  const std::uint64_t scaled =
      std::bit_cast<std::uint64_t>(power) + (std::bit_cast<std::uint64_t>(shifted) << 52);
  const double value = std::bit_cast<double>(scaled);
  const double flushed = value < 0x1p-1022 ? 0.0 : value;
  const double bounded = x > 0x1.62e42fefa39efp9 ? 0x1p1023 * 2.0 : flushed;
  return x != x ? x : bounded;
}

}  // namespace assay::reference
