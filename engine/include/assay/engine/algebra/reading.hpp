#pragma once

#include <array>
#include <cmath>

/// The operations of a formula. An operator states the arithmetic of one pair (query row, key row)
/// only once, as a template. Its parameter `on` is a *reading*: a class that evaluates the formula
/// with one type of numbers, for example to get values or error bounds. `on` has these functions:
///
///     on.exact(x)                        a number without error
///     on.symbol(k, x)                    x, number k of the numbers computed once per row
///     on.dot(of, terms)                  a dot product with `terms` products; `of`: its sums
///     on.rounded(x, size, times, level)  x after `times` fp32 roundings of numbers of size `size`
///     on.exponential(x, z, error)        e^x / z with the relative error `error`; z is exact
///     on.residue(x, phi)                 x of a masked pair: a kernel may add up to phi to x, the
///                                        same amount in several pairs
///     on.stored(x, store), on.stored(x, store, size)
///                                        x rounded to a narrower type. If x is only a part
///                                        of the rounded number, `size` is that number's size
///     on.staged(x, store)                like stored, as the last step of a formula
///     on.overflows(x, store)             1 if the rounded value may become infinite, else 0
///     on.value(x)                        the exact value
///     on.size(x), on.magnitude(x)        |exact value of x|; upper bound of |kernel's value of x|
///
/// Numbers support +, - and *. A number can also be multiplied by an exact factor.
namespace assay::engine {

/// How often a kernel rounds: once per pair (query row and key), once per row, or once per call.
enum class Level { pair, row, call };

/// Input of the error bound of a dot product: the sum of its products, the sum of their magnitudes
/// and the sum of their squares.
template <class V>
struct Products {
  V sum{}, magnitudes{}, squares{};
};

/// The unit roundoffs of a kernel's arithmetic.
struct Units {
  double u = 0x1p-24;            ///< of elementwise operations
  double u_sum = 0x1p-24;        ///< of the accumulator of products
  double operands = 0;           ///< of both operands of a product together, if they are narrowed
  double operand_deviation = 0;  ///< sqrt(3 * mean square of their error / product^2)
  bool truncating = false;       ///< the accumulator truncates: the mean of its errors is not 0
};

/// Largest error of a dot product in any order of summation, divided by the sum of the products'
/// magnitudes (engine/README.md, A4; docs/bound.md, E3).
inline double worst_dot(const Units& units, double terms) { return (terms + 4) * units.u_sum; }
/// Root of the sum of squared rounding error bounds of a dot product, divided by the sum of the
/// products' magnitudes. Only for roundings whose errors have mean 0 (engine/README.md, A4;
/// docs/bound.md, E3).
inline double mean_free_dot(const Units& units, double terms) {
  return (std::sqrt(terms) + 2) * units.u_sum;
}

/// The result of a formula for one pair (query row, key row): a coefficient. Each output is a sum
/// of coefficients times rows of an operand.
template <class Number, class V>
struct Coefficient {
  Number number;
  V drift{};     ///< A3: the error of its store, if that is known
  V overflow{};  ///< not 0 if an input of the coefficient may be infinite in a kernel
  /// Relative sensitivity of the coefficient to a constant that a kernel rounds once per call, such
  /// as the softmax scale: the relative change of the coefficient divided by the relative change of
  /// the constant (engine/README.md, A13).
  std::array<V, 2> by_constant{};
};

}  // namespace assay::engine
