#pragma once

#include <array>
#include <cmath>

/// What a formula is written in. An operator states the arithmetic of a pair of rows once, as a
/// template over a *reading* `on`, which decides what a number is:
///
///     on.exact(x)                        a number without error
///     on.symbol(k, x)                    number k of those that the row computed before
///     on.dot(of, terms)                  a dot product, given the sums that A4 needs
///     on.rounded(x, size, times, level)  x after so many fp32 roundings of numbers of that size
///     on.exponential(x, z, error)        e^x / z with that relative error; z is exact
///     on.residue(x, phi)                 x, or x and up to phi that pairs may share, as what a
///                                        masked pair may leave behind
///     on.stored(x, store), on.stored(x, store, size)
///                                        x rounded to a narrower type; of that size where x is
///                                        rounded as a part of something else
///     on.staged(x, store)                the same, which ends a formula
///     on.overflows(x, store)             1 where what is stored may become infinite, else 0
///     on.value(x)                        the exact value
///     on.size(x), on.magnitude(x)        |x| of the exact value; of what a kernel may have
///
/// with +, -, * between numbers, and * by what is exact.
namespace assay::engine {

/// Where a rounding is committed: for one pair, once for all pairs of a row, or once for a call.
enum class Level { pair, row, call };

/// What a dot product is known by: the sum of its products, of their magnitudes, of their squares.
template <class V>
struct Products {
  V sum{}, magnitudes{}, squares{};
};

/// Unit roundoffs of a kernel.
struct Units {
  double u = 0x1p-24;      ///< of elementwise operations
  double u_sum = 0x1p-24;  ///< of the accumulator of products
  double operands = 0;     ///< of both operands of a product together, where they are narrowed
  double operand_deviation = 0;  ///< root of their mean squares times 3, as a share of the product
  bool truncating = false;  ///< the accumulator does not round to nearest: its errors have a mean
};

/// A4, E3. Roundings of a dot product: (terms + 4) u_sum of the magnitudes at worst, in any order.
inline double worst_dot(const Units& units, double terms) { return (terms + 4) * units.u_sum; }
/// A4, E3. (sqrt(terms) + 2) u_sum as a sum without mean.
inline double mean_free_dot(const Units& units, double terms) {
  return (std::sqrt(terms) + 2) * units.u_sum;
}

/// The last number of a formula, which is multiplied with operands and summed.
template <class Number, class V>
struct Coefficient {
  Number number;
  V drift{};     ///< A3: what its store is known to add
  V overflow{};  ///< not 0 where something that it is made of may be infinite in a kernel
  /// What its exact value changes by, relative to it, with a constant that a kernel rounds once for
  /// the whole call (A13).
  std::array<V, 2> by_constant{};
};

}  // namespace assay::engine
