#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "assay/engine/algebra/enclosure.hpp"
#include "assay/engine/algebra/sum.hpp"
#include "assay/engine/algebra/tolerance.hpp"
#include "assay/engine/blocks/operand.hpp"
#include "assay/engine/lanes.hpp"

/// Storage for the coefficients of a block's pairs: matrices in double for signed numbers, matrices
/// in float for magnitudes and squares. Sums over the keys of a row and sums over the rows of a key
/// use different subsets of these matrices (engine/blocks/README.md, B1 and B4).
namespace assay::engine {

/// Powers of two that scale coefficients and their squares into the range of float
/// (engine/blocks/README.md, B1).
struct CoefficientScales {
  double linear = 1, squared = 1;
};

/// The address of one pair's coefficient: the matrices of a block, and one index that is valid in
/// all of them.
template <std::size_t doubles, std::size_t floats>
struct Places {
  std::array<double*, doubles> in_double;
  std::array<float*, floats> in_float;
};

/// Returns x in the lanes in which `times` is not 0. The other lanes become 0, even if x is NaN
/// there.
[[gnu::always_inline]] inline Lanes where(const Lanes& times, const Lanes& x) {
  return times == 0.0 ? Lanes{} : x;
}

[[gnu::always_inline]] inline void put(double* to, const Lanes& x) {
  __builtin_memcpy(to, &x, sizeof x);
}
/// Converts x to float and stores it. The stored number is at least the smallest normal float
/// unless x is 0 (engine/blocks/README.md, B1).
[[gnu::always_inline]] inline void put(float* to, const Lanes& x) {
  const Lanes kept = x > 0.0 ? larger_of(x, filled<Lanes>(0x1p-126)) : x;
  const FloatLanes narrowed = __builtin_convertvector(kept, FloatLanes);
  __builtin_memcpy(to, &narrowed, sizeof narrowed);
}

/// Stores the coefficients that `ToleranceReading` computes: values and error bounds.
template <std::size_t symbols>
class ToleranceStreams {
 public:
  template <class V>
  using Reading = ToleranceReading<V, symbols>;
  using RowReading = ToleranceReading<double, 0>;
  static constexpr Bounds bounds = Bounds::by_element;
  static constexpr bool takes_sides = true;

  /// Matrices in double: value, drift (known rounding error), and the derivatives with respect to
  /// constants of the call and to row symbols (numbers computed once per row).
  static constexpr std::size_t constants = 2, first_symbol = 2 + constants;
  static constexpr std::size_t doubles = first_symbol + symbols;
  /// Matrices in float: magnitude and squared value; then additive, squares, moment and shared for
  /// sums over the keys of a row; then rigorous, squares, moment and shared for sums over the rows
  /// of a key. The last four include the errors of the row symbols (numbers computed once per row).
  static constexpr std::size_t floats = 10;
  static constexpr std::array<bool, floats> squared = {false, true,  false, true, true,
                                                       false, false, true,  true, false};
  /// The numbers of double matrices and of float matrices that one sum uses. `within`: a sum over
  /// the keys of a row. `over`: a sum over the rows of a key.
  static constexpr std::size_t doubles_within = doubles, doubles_over = first_symbol,
                               floats_of_sum = 6;
  static constexpr std::array<std::size_t, floats_of_sum> floats_within = {0, 1, 2, 3, 4, 5};
  static constexpr std::array<std::size_t, floats_of_sum> floats_over = {0, 1, 6, 7, 8, 9};

  /// Returns which of the matrices in double can contain numbers other than 0. The others need no
  /// computation.
  template <class Formula>
  static std::array<bool, doubles> taken(const Formula& formula) {
    std::array<bool, doubles> taken{};
    taken[0] = true;
    taken[1] = formula.drifts();
    for (std::size_t k = 0; k < constants; ++k) taken[2 + k] = formula.has_constants();
    for (std::size_t k = 0; k < symbols; ++k) taken[first_symbol + k] = formula.errs(k);
    return taken;
  }

  /// Ignores its argument, the number of fused multiply-adds per element: it does not affect the
  /// error of a kernel.
  explicit ToleranceStreams(double) {}

  using Number = Coefficient<Tolerance<Lanes, symbols>, Lanes>;
  template <bool within, bool over>
  [[gnu::always_inline]] void put_pair(const Number& c, const std::array<Symbol, symbols>& of_row,
                                       const Lanes& times, const CoefficientScales& scales,
                                       const Places<doubles, floats>& to, std::int64_t at) const {
    const auto& n = c.number;
    const Lanes linear = times * scales.linear, squares = square(times) * scales.squared;
    put(to.in_double[0] + at, where(times, n.value * times));
    if (to.in_double[1] != nullptr) put(to.in_double[1] + at, where(times, c.drift * times));
    for (std::size_t k = 0; k < constants; ++k)
      if (to.in_double[2 + k] != nullptr)
        put(to.in_double[2 + k] + at, where(times, n.value * c.by_constant[k] * times));
    put(to.in_float[0] + at, where(times, magnitude_of(n.value) * linear));
    put(to.in_float[1] + at, where(times, square(n.value) * squares));
    if constexpr (within) {
      for (std::size_t k = 0; k < symbols; ++k)
        if (to.in_double[first_symbol + k] != nullptr)
          put(to.in_double[first_symbol + k] + at, where(times, n.by[k] * times));
      put(to.in_float[2] + at, where(times, n.additive * linear));
      put(to.in_float[3] + at, where(times, n.squares * squares));
      put(to.in_float[4] + at, where(times, moment_with(n.moment, n.shared) * squares));
      put(to.in_float[5] + at, where(times, n.shared * linear));
    }
    if constexpr (over) {
      Lanes free{}, shared = n.shared;
      for (std::size_t k = 0; k < symbols; ++k) {
        free += square(n.by[k] * of_row[k].deviation);
        shared += magnitude_of(n.by[k]) * of_row[k].shared;
      }
      put(to.in_float[6] + at, where(times, n.rigorous * linear));
      put(to.in_float[7] + at, where(times, (n.squares + free) * squares));
      put(to.in_float[8] + at, where(times, moment_with(n.moment + free, shared) * squares));
      put(to.in_float[9] + at, where(times, shared * linear));
    }
  }

  /// Assembles an output element from its sums in double and in float (engine/README.md, A8 and
  /// A9).
  static Element element_of(const double* in_double, const double* in_float, double terms) {
    return {.value = in_double[0],
            .magnitude = in_float[0],
            .rigorous = in_float[2],
            .squares = in_float[3],
            .shared = in_float[5],
            .moment = in_float[4],
            .drift = in_double[1],
            .terms = terms,
            .value_squares = in_float[1],
            .by_constant = {in_double[2], in_double[3]}};
  }
  static Element element_within(const double* in_double, const double* in_float, double terms,
                                const std::array<Symbol, symbols>& of_row) {
    Element element = element_of(in_double, in_float, terms);
    std::array<double, symbols> by{};
    for (std::size_t k = 0; k < symbols; ++k) by[k] = in_double[first_symbol + k];
    add_symbols(element, by, of_row);
    return element;
  }
};

/// Stores the coefficients that `EnclosureReading` computes: values in double. The bounds of their
/// rounding errors are summed over the pairs of a row or key, without matrix products.
template <std::size_t symbols>
class EnclosureStreams {
 public:
  template <class V>
  using Reading = EnclosureReading<V, symbols>;
  using RowReading = EnclosureReading<double, 0>;
  static constexpr Bounds bounds = Bounds::by_norm;
  static constexpr bool takes_sides = false;

  static constexpr std::size_t doubles = 1, floats = 0;
  static constexpr std::array<bool, 1> squared = {false};
  static constexpr std::size_t doubles_within = 1, doubles_over = 1, floats_of_sum = 1;
  static constexpr std::array<std::size_t, floats_of_sum> floats_within = {0}, floats_over = {0};

  template <class Formula>
  static std::array<bool, doubles> taken(const Formula&) {
    return {true};
  }

  /// `chain` is the largest number of roundings between a summand and the finished sum
  /// (engine/blocks/README.md, B3).
  explicit EnclosureStreams(double chain) : accumulation_((chain + 4) * double_unit) {}

  using Number = Coefficient<Enclosure<Lanes>, Lanes>;
  template <bool, bool>
  [[gnu::always_inline]] void put_pair(const Number& c, const std::array<Symbol, symbols>&,
                                       const Lanes& times, const CoefficientScales&,
                                       const Places<doubles, floats>& to, std::int64_t at) const {
    put(to.in_double[0] + at, where(times, c.number.value * times));
  }
  /// Returns the error of a coefficient and of the sum to which it is added, for an operand of 1.
  [[gnu::always_inline]] Lanes radius_of(const Number& c, const Lanes& times) const {
    const Lanes value = c.number.value * times;
    return where(times, c.number.radius * times + accumulation_ * magnitude_of(value));
  }

  /// Assembles an output element from its sums. Its member `rigorous` holds the bound of the
  /// rounding error.
  static Element element_of(const double* in_double, const double* in_float, double terms) {
    return {.value = in_double[0], .rigorous = in_float[0], .terms = terms};
  }
  static Element element_within(const double* in_double, const double* in_float, double terms,
                                const std::array<Symbol, symbols>&) {
    return element_of(in_double, in_float, terms);
  }

 private:
  double accumulation_;
};

/// Returns the finished output element with the bound of its rounding error
/// (engine/blocks/README.md, B3). `factor` multiplies the sum.
inline Enclosure<double> enclosed(const Element& element, double factor) {
  const Enclosure<double> sum = {element.value, element.rigorous};
  Enclosure<double> scaled = sum * factor;
  scaled.radius *= 1 + 0x1p-40;
  return scaled;
}

}  // namespace assay::engine
