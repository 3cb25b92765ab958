#pragma once

#include <array>
#include <cmath>

/// The operations of a formula. An operator describes the arithmetic for a pair of rows only once:
/// as a template whose parameter `on` is a *reading*, a class that evaluates the formula with one
/// type of numbers. `on` has these functions:
///
///     on.exact(x)                        a number without error
///     on.symbol(k, x)                    x, which is number k of those computed for the row
///     on.dot(of, terms) a dot product, given the sums that A4 (engine/README.md) needs
///     on.rounded(x, size, times, level)  x after `times` fp32 roundings of numbers of size `size`
///     on.exponential(x, z, error)        e^x / z with the relative error `error`; z is exact
///     on.residue(x, phi)                 x, or x plus an error up to phi that pairs may share: the
///                                        residue of a masked pair
///     on.stored(x, store), on.stored(x, store, size)
///                                        x rounded to a narrower type. If x is only a part
///                                        of the rounded number, `size` is that number's size
///     on.staged(x, store)                like stored, as the last step of a formula
///     on.overflows(x, store)             1 if the stored value may become infinite, else 0
///     on.value(x)                        the exact value
///     on.size(x), on.magnitude(x)        |exact value of x|; upper bound of |kernel's value of x|
///
/// Numbers have +, - and *, and * by an exact factor.
namespace assay::engine {

/// How often a kernel rounds: once for each pair, once for all pairs of a row, or once for a call.
enum class Level { pair, row, call };

/// The inputs for the error of a dot product: the sum of its products, the sum of their magnitudes
/// and the sum of their squares.
template <class V>
struct Products {
  V sum{}, magnitudes{}, squares{};
};

/// Unit roundoffs of a kernel.
struct Units {
  double u = 0x1p-24;            ///< of elementwise operations
  double u_sum = 0x1p-24;        ///< of the accumulator of products
  double operands = 0;           ///< of both operands of a product together, if they are narrowed
  double operand_deviation = 0;  ///< sqrt(3 * mean square of their error / product^2)
  bool truncating = false;       ///< the accumulator truncates: the mean of its errors is not 0
};

/// README A4, E3: largest error of a dot product in any order, (terms + 4) u_sum magnitudes.
inline double worst_dot(const Units& units, double terms) { return (terms + 4) * units.u_sum; }
/// README A4, E3: factor for this error if its roundings have mean 0, (sqrt(terms) + 2) u_sum.
inline double mean_free_dot(const Units& units, double terms) {
  return (std::sqrt(terms) + 2) * units.u_sum;
}

/// The result of a formula: a coefficient that is multiplied by operands and summed.
template <class Number, class V>
struct Coefficient {
  Number number;
  V drift{};     ///< A3: the error of its store, if that is known
  V overflow{};  ///< not 0 if an input of the coefficient may be infinite in a kernel
  /// A kernel rounds some constants once for the whole call (README A13). This is the relative
  /// change of the coefficient for a relative change of such a constant.
  std::array<V, 2> by_constant{};
};

}  // namespace assay::engine
