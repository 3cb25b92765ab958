#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "assay/engine/algebra/reading.hpp"
#include "assay/engine/algebra/store.hpp"
#include "assay/engine/lanes.hpp"

namespace assay::engine {

/// Identifies one rounding of a kernel: the query row, the key (`partner`), and the number of the
/// rounding in the formula. `row` is -1 if the kernel rounds once per call; `partner` is -1 if it
/// rounds once per row. Numbers from `of_row` on are roundings in the formula for whole rows;
/// smaller numbers are roundings in the formula for pairs.
struct Source {
  static constexpr int of_row = 1 << 16;

  std::int64_t row = -1, partner = -1;
  int number = 0;

  friend auto operator<=>(const Source&, const Source&) = default;
};

/// Chooses the error of a rounding: returns a factor from -1 to 1 of the largest possible error.
using Shares = std::function<double(const Source&)>;

/// Simulates a kernel in which every rounding has a chosen error. The function `shares` chooses
/// each error as a fraction (-1 to 1) of the largest possible error. The simulation computes in
/// double, and the rounding errors of double are about 2^-29 of the errors of fp32.
class InjectionReading {
 public:
  using Real = double;
  using Number = double;

  /// `at` identifies the pair and the number of its first rounding. The object keeps references to
  /// `units` and `shares`.
  InjectionReading(const Units& units, const Shares& shares, Source at)
      : units_(units), shares_(shares), at_(at) {}

  double exact(double x) const { return x; }
  /// Returns x unchanged. The errors of the row are already in x, because this class also computed
  /// x.
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
