#pragma once

#include <cstddef>
#include <vector>

/// Double-double arithmetic: unevaluated sums of two doubles, with about 106 bits. The code uses
/// only IEEE 754 operations, so the bits are the same on every machine if the compiler contracts
/// nothing (-ffp-contract=off). Error bounds: docs/double_double.md, D1 to D5.
namespace assay::reference {

/// The number value + rest, where |rest| <= 2^-53 |value|. If a result is not finite or needs
/// numbers beyond 2^996, its value or its rest is NaN or infinite. All results computed from such a
/// number are NaN or infinite, too.
struct DoubleDouble {
  double value = 0, rest = 0;

  constexpr DoubleDouble() = default;
  constexpr explicit DoubleDouble(double exact) : value(exact) {}
  constexpr DoubleDouble(double of_value, double of_rest) : value(of_value), rest(of_rest) {}
  explicit operator double() const { return value; }
};

/// Largest relative errors without underflow. The first constant is for one operation: a sum,
/// difference, product, quotient or root. The second is for `exp` (D2, D4). The error of a sum of n
/// products is at most (n + 4) times the first constant, relative to the sum of the products'
/// magnitudes (D3).
inline constexpr double double_double_unit = 0x1p-98, double_double_exp_error = 0x1p-97;

/// a + b without error: the rounded sum and its rounding error (D1). `fast_sum` requires |a| >= |b|
/// or a = 0.
[[gnu::always_inline]] inline DoubleDouble exact_sum(double a, double b) {
  const double sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}
[[gnu::always_inline]] inline DoubleDouble fast_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

/// Splits x without error into two numbers of 26 bits (D1).
[[gnu::always_inline]] inline DoubleDouble halves(double x) {
  const double large = x * 0x1.0000002p27, upper = large - (large - x);
  return {upper, x - upper};
}
[[gnu::always_inline]] inline DoubleDouble exact_product(double a, double b) {
  const auto [a1, a2] = halves(a);
  const auto [b1, b2] = halves(b);
  const double product = a * b;
  return {product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2};
}

[[gnu::always_inline]] inline DoubleDouble operator-(const DoubleDouble& x) {
  return {-x.value, -x.rest};
}
[[gnu::always_inline]] inline DoubleDouble operator+(const DoubleDouble& x, const DoubleDouble& y) {
  const DoubleDouble upper = exact_sum(x.value, y.value), lower = exact_sum(x.rest, y.rest);
  const DoubleDouble joined = fast_sum(upper.value, upper.rest + lower.value);
  return fast_sum(joined.value, lower.rest + joined.rest);
}
[[gnu::always_inline]] inline DoubleDouble operator-(const DoubleDouble& x, const DoubleDouble& y) {
  return x + -y;
}
[[gnu::always_inline]] inline DoubleDouble operator*(const DoubleDouble& x, const DoubleDouble& y) {
  const DoubleDouble upper = exact_product(x.value, y.value);
  return fast_sum(upper.value, upper.rest + (x.value * y.rest + x.rest * y.value));
}
DoubleDouble operator/(const DoubleDouble& x, const DoubleDouble& y);
inline bool operator>(const DoubleDouble& x, const DoubleDouble& y) {
  return x.value > y.value || (x.value == y.value && x.rest > y.rest);
}
inline DoubleDouble& operator+=(DoubleDouble& x, const DoubleDouble& y) { return x = x + y; }

DoubleDouble sqrt(const DoubleDouble& x);
/// e^x. Results below 2^-995 become 0; arguments above 300 give NaN.
DoubleDouble exp(const DoubleDouble& x);

/// The dot product sum of a[d] b[d]. Each product of two floats is exact in double.
DoubleDouble dot(const std::vector<float>& a, const std::vector<float>& b);
/// Computes sum[d] += factor * row[d] for every d.
void add_scaled(std::vector<DoubleDouble>& sum, const DoubleDouble& factor,
                const std::vector<float>& row);

}  // namespace assay::reference
