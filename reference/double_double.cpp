#include "assay/reference/double_double.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace assay::reference {
namespace {

/// Eight independent sums.
typedef double Lanes __attribute__((vector_size(64)));
constexpr std::size_t lanes = 8;

/// 1 / n! for n = 0 ... 12 in double-double precision (docs/double_double.md, D4).
constexpr DoubleDouble inverse_factorials[] = {{1, 0},
                                               {1, 0},
                                               {0.5, 0},
                                               {0x1.5555555555555p-3, 0x1.5555555555555p-57},
                                               {0x1.5555555555555p-5, 0x1.5555555555555p-59},
                                               {0x1.1111111111111p-7, 0x1.1111111111111p-63},
                                               {0x1.6c16c16c16c17p-10, -0x1.f49f49f49f49fp-65},
                                               {0x1.a01a01a01a01ap-13, 0x1.a01a01a01a01ap-73},
                                               {0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76},
                                               {0x1.71de3a556c734p-19, -0x1.c154f8ddc6c00p-73},
                                               {0x1.27e4fb7789f5cp-22, 0x1.cbbc05b4fa99ap-76},
                                               {0x1.ae64567f544e4p-26, -0x1.c062e06d1f209p-80},
                                               {0x1.1eed8eff8d898p-29, -0x1.2aec959e14c06p-83}};

/// 1 / n! for n = 22 ... 13 in double precision, which is enough for these small terms
/// (docs/double_double.md, D4).
constexpr double small_inverse_factorials[] = {
    0x1.0ce396db7f853p-70, 0x1.71b8ef6dcf572p-66, 0x1.e542ba4020225p-62, 0x1.2f49b46814157p-57,
    0x1.6827863b97d97p-53, 0x1.952c77030ad4ap-49, 0x1.ae7f3e733b81fp-45, 0x1.ae7f3e733b81fp-41,
    0x1.93974a8c07c9dp-37, 0x1.6124613a86d09p-33};

DoubleDouble plus(const DoubleDouble& x, double y) {
  const DoubleDouble upper = exact_sum(x.value, y);
  return fast_sum(upper.value, x.rest + upper.rest);
}

}  // namespace

/// D2.
DoubleDouble operator/(const DoubleDouble& x, const DoubleDouble& y) {
  const double quotient = x.value / y.value;
  const DoubleDouble left = x - DoubleDouble(quotient) * y;
  return fast_sum(quotient, left.value / y.value);
}

/// D2.
DoubleDouble sqrt(const DoubleDouble& x) {
  if (x.value == 0) return x;
  const double root = std::sqrt(x.value);
  const DoubleDouble left = x - exact_product(root, root);
  return fast_sum(root, left.value / (2 * root));
}

/// D4.
DoubleDouble exp(const DoubleDouble& x) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  // ln 2 in three parts. The first two have at most 40 bits each, so that their products with the
  // integer k are exact.
  constexpr double ln2_upper = 0x1.62e42fefa2p-1, ln2_middle = 0x1.9ef35793c6p-41,
                   ln2_lower = 0x1.673007e5ed5e8p-81;
  if (!(x.value <= 300) || !std::isfinite(x.rest)) return {nan, nan};
  if (x.value < -690) return {};
  const double k = std::nearbyint(x.value * 0x1.71547652b82fep0);
  const DoubleDouble r = plus(plus(plus(x, -k * ln2_upper), -k * ln2_middle), -k * ln2_lower);
  double small = 0;
  for (const double coefficient : small_inverse_factorials) small = small * r.value + coefficient;
  DoubleDouble power(small);
  for (std::size_t n = std::size(inverse_factorials); n-- > 0;)
    power = power * r + inverse_factorials[n];
  const double scale =
      std::bit_cast<double>(static_cast<std::uint64_t>(static_cast<std::int64_t>(k) + 1023) << 52);
  return {power.value * scale, power.rest * scale};
}

/// D3.
DoubleDouble dot(const std::vector<float>& a, const std::vector<float>& b) {
  Lanes sum{}, rest{};
  std::size_t d = 0;
  for (; d + lanes <= a.size(); d += lanes) {
    Lanes product;
    for (std::size_t l = 0; l < lanes; ++l)
      product[l] = static_cast<double>(a[d + l]) * static_cast<double>(b[d + l]);
    const Lanes next = sum + product, part = next - sum;
    rest += (sum - (next - part)) + (product - part);
    sum = next;
  }
  DoubleDouble whole;
  for (std::size_t l = 0; l < lanes; ++l) whole += exact_sum(sum[l], rest[l]);
  for (; d < a.size(); ++d)
    whole = plus(whole, static_cast<double>(a[d]) * static_cast<double>(b[d]));
  return whole;
}

/// D3.
void add_scaled(std::vector<DoubleDouble>& sum, const DoubleDouble& factor,
                const std::vector<float>& row) {
  const auto [upper, lower] = halves(factor.value);
  const double rest = factor.rest;
  for (std::size_t d = 0; d < sum.size(); ++d) {
    const auto x = static_cast<double>(row[d]);
    const DoubleDouble first = exact_sum(sum[d].value, upper * x),
                       second = exact_sum(first.value, lower * x);
    sum[d] = exact_sum(second.value, sum[d].rest + (first.rest + (second.rest + rest * x)));
  }
}

}  // namespace assay::reference
