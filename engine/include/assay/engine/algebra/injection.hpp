#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "assay/engine/algebra/reading.hpp"
#include "assay/engine/algebra/store.hpp"
#include "assay/engine/lanes.hpp"

namespace assay::engine {

/// One rounding that a formula declares: the `number`-th of its text, for that row and partner.
/// `row` is -1 where a call rounds once, `partner` where a row does. The text of a row counts from
/// `of_row` on, so that its roundings are none of the text of its pairs.
struct Source {
  static constexpr int of_row = 1 << 16;

  std::int64_t row = -1, partner = -1;
  int number = 0;

  friend auto operator<=>(const Source&, const Source&) = default;
};

/// What share of its full size a source commits, from -1 to 1.
using Shares = std::function<double(const Source&)>;

/// Reads a formula as a kernel would compute that commits every declared rounding, at the size that
/// it has there and with the sign and share that are chosen. In double, whose own roundings are
/// some 2^-29 of those of fp32.
class InjectionReading {
 public:
  using Real = double;
  using Number = double;

  /// Of the pair `at`, whose number is that of its first rounding; refers to `units` and `shares`.
  InjectionReading(const Units& units, const Shares& shares, Source at)
      : units_(units), shares_(shares), at_(at) {}

  double exact(double x) const { return x; }
  /// x is what this reading of the row gave.
  double symbol(std::size_t, double x) const { return x; }
  double dot(const Products<double>& of, double terms) {
    const double worst = of.magnitudes * worst_dot(units_, terms);
    return of.sum + share(Level::pair) * worst +
           share(Level::pair) * of.magnitudes * units_.operands;
  }
  double rounded(double x, double size, double times, Level level, double = 0) {
    return x + share(level) * times * units_.u * size;
  }
  double exponential(double x, double z, double error) {
    return std::exp(x) / z * (1 + share(Level::pair) * error);
  }
  double residue(double x, double phi) { return x + share(Level::pair) * phi; }
  double stored(double x, const Store& store) { return stored(x, store, std::abs(x)); }
  double stored(double x, const Store& store, double size) {
    return x + share(Level::pair) * store.error(size);
  }
  double overflows(double, const Store&) const { return 0; }
  Coefficient<double, double> staged(double x, const Store& store) {
    return {.number = stored(x, store)};
  }
  double value(double x) const { return x; }
  double size(double x) const { return std::abs(x); }
  double magnitude(double x) const { return std::abs(x); }

 private:
  double share(Level level) {
    Source source = at_;
    if (level != Level::pair) source.partner = -1;
    if (level == Level::call) source.row = -1;
    ++at_.number;
    return shares_(source);
  }

  const Units& units_;
  const Shares& shares_;
  Source at_;
};

}  // namespace assay::engine
