#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "assay/engine/blocks/index_set.hpp"
#include "assay/engine/blocks/operand.hpp"
#include "assay/engine/blocks/product.hpp"
#include "assay/engine/blocks/streams.hpp"

namespace assay::engine {

/// An output: the sum of a coefficient times an operand, within rows (over keys, whose rows the
/// right operand has) or over rows (whose rows the left one has).
struct SumOf {
  int coefficient = 0;
  bool within = true;
  int operand = 0;
};

/// What a row has computed before its pairs.
template <int symbols>
struct TileRow {
  std::array<double, symbols> numbers{};
  std::array<Symbol, symbols> symbols_of{};
};

/// B1. Coefficients of that size lie at 2^40, their squares at 2^50.
inline CoefficientScales coefficient_scales_of(double size) {
  if (!(size > 0) || !std::isfinite(size)) return {0x1p40, 0x1p50};
  const int exponent = std::clamp(std::ilogb(size), -400, 400);
  return {std::ldexp(1.0, 40 - exponent), std::ldexp(1.0, 50 - 2 * exponent)};
}

/// Pairs of a block of rows and a block of keys: their dot products, and the matrices of their
/// coefficients.
template <class Streams, class Formula>
class Tile {
 public:
  Tile(std::int64_t most_rows, std::int64_t most_keys) : pitch_(padded(most_keys) + 16) {
    const auto count = static_cast<std::size_t>(most_rows * pitch_);
    for (auto& dot : dots_) {
      dot.sum.resize(count);
      dot.magnitude.resize(count);
      if (Streams::takes_squares) dot.square.resize(count);
    }
    for (auto& side : sides_) side.resize(count);
    times_.resize(count);
    for (int c = 0; c < Formula::coefficients; ++c) {
      for (auto& stream : coefficients_[c].in_double) stream.resize(count);
      for (auto& stream : coefficients_[c].in_float) stream.resize(count);
    }
  }

  std::vector<TileRow<Formula::symbols>> rows;

  /// Dot product d of `count` rows of the left operand with the columns of the right one.
  void multiply_dot(int d, const double* left, const LeftRows& magnitudes, std::int64_t count,
                    const Panels& right) {
    Dot& dot = dots_[d];
    multiply_rows(left, right.value, dot.sum, count, right);
    multiply_rows(magnitudes.magnitude.data(), right.magnitude, dot.magnitude, count, right);
    if (Streams::takes_squares)
      multiply_rows(magnitudes.square.data(), right.square, dot.square, count, right);
  }
  /// B1. By what magnitudes and squares of dot product d were multiplied.
  void set_dot_scales(int d, std::int64_t terms, double magnitude, double square) {
    const auto count = static_cast<double>(terms);
    const double slack = 1 + (count + 8) * 0x1p-24;
    dots_[d].by_magnitude = slack / magnitude;
    dots_[d].lost_magnitude = count * 0x1p-148 / magnitude;
    dots_[d].by_square = slack / square;
    dots_[d].lost_square = count * 0x1p-148 / square;
  }

  void count_pairs(const Formula& formula, const IndexSet& index, Range of, Range keys) {
    const auto count = static_cast<std::size_t>(keys.last - keys.first);
    for (std::int64_t i = of.first; i < of.last; ++i) {
      const auto at = static_cast<std::size_t>((i - of.first) * pitch_);
      std::fill_n(times_.begin() + static_cast<std::ptrdiff_t>(at), pitch_, 0.0);
      index.counts(i, keys.first, {times_.data() + at, count});
      for (int k = 0; k < Formula::sides; ++k)
        formula.side(k, i, keys.first, {sides_[k].data() + at, count});
    }
  }

  /// Reads all pairs, for the instructions that this machine has.
  void fill(const Formula& formula, const Streams& streams,
            const std::array<CoefficientScales, Formula::coefficients>& scales, Range of,
            Range keys) {
    const Fill fill = {formula, streams, scales, of, keys.last - keys.first};
#if defined(__x86_64__)
    if (pair_instructions() == Instructions::avx512) return fill_avx512(fill);
    if (pair_instructions() == Instructions::avx2) return fill_avx2(fill);
#endif
    fill_portable(fill);
  }

  /// Adds this block's share of a sum to accumulators, from row `at` of theirs on.
  template <class Accumulators>
  void add(const SumOf& sum, std::int64_t count, std::int64_t keys, const Panels& operand,
           Accumulators& to, std::int64_t at) const {
    const auto& c = coefficients_[sum.coefficient];
    const int doubles = sum.within ? Streams::doubles_within : Streams::doubles_over;
    const Cut cut = {sum.within, count, keys, operand.columns, at};
    for (int s = 0; s < doubles; ++s)
      add_stream(cut, c.in_double[s], operand.value, to.in_double[s]);
    for (int s = 0; s < Streams::floats_of_sum; ++s) {
      const int stream = sum.within ? Streams::floats_within[s] : Streams::floats_over[s];
      add_stream(cut, c.in_float[stream],
                 Streams::squared[stream] ? operand.square : operand.magnitude, to.in_float[s]);
    }
  }

  void add_terms_of_rows(std::vector<double>& terms) const {
    for (std::size_t r = 0; r < rows.size(); ++r)
      for (std::int64_t c = 0; c < pitch_; ++c) terms[r] += times_[r * row_ + at(c)];
  }
  void add_terms_of_keys(std::vector<double>& terms, Range keys) const {
    for (std::size_t r = 0; r < rows.size(); ++r)
      for (std::int64_t j = keys.first; j < keys.last; ++j)
        terms[at(j)] += times_[r * row_ + at(j - keys.first)];
  }

 private:
  struct Dot {
    std::vector<double> sum;
    std::vector<float> magnitude, square;
    double by_magnitude = 1, lost_magnitude = 0, by_square = 1, lost_square = 0;
  };
  struct Matrices {
    std::array<std::vector<double>, Streams::doubles> in_double;
    std::array<std::vector<float>, Streams::floats> in_float;
  };
  struct Fill {
    const Formula& formula;
    const Streams& streams;
    const std::array<CoefficientScales, Formula::coefficients>& scales;
    Range of;
    std::int64_t keys;
  };
  struct Cut {
    bool within;
    std::int64_t rows, keys, columns, at;
  };

  static std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }

  template <class T>
  void multiply_rows(const T* left, const std::vector<T>& right, std::vector<T>& to,
                     std::int64_t count, const Panels& panels) {
    multiply(Product<T>{.a = left,
                        .a_row = panels.depth,
                        .b = right.data(),
                        .b_depth = panels.depth,
                        .c = to.data(),
                        .c_row = pitch_,
                        .rows = count,
                        .columns = panels.columns,
                        .depth = panels.depth});
  }

  template <class T>
  void add_stream(const Cut& cut, const std::vector<T>& coefficients, const std::vector<T>& operand,
                  std::vector<T>& to) const {
    const std::int64_t depth = cut.within ? cut.keys : cut.rows;
    multiply(Product<T>{.a = coefficients.data(),
                        .a_row = cut.within ? pitch_ : 1,
                        .a_depth = cut.within ? 1 : pitch_,
                        .b = operand.data(),
                        .b_depth = depth,
                        .c = to.data() + cut.at * cut.columns,
                        .c_row = cut.columns,
                        .rows = cut.within ? cut.rows : cut.keys,
                        .columns = cut.columns,
                        .depth = depth,
                        .add = true});
  }

  [[gnu::always_inline]] static Lanes lanes_at(const std::vector<double>& of, std::size_t place) {
    Lanes x;
    __builtin_memcpy(&x, of.data() + place, sizeof x);
    return x;
  }
  [[gnu::always_inline]] static Lanes lanes_at(const std::vector<float>& of, std::size_t place) {
    FloatLanes x;
    __builtin_memcpy(&x, of.data() + place, sizeof x);
    return __builtin_convertvector(x, Lanes);
  }

  [[gnu::always_inline]] std::array<Products<Lanes>, Formula::dots> products_at(
      std::size_t place) const {
    std::array<Products<Lanes>, Formula::dots> products;
    for (int d = 0; d < Formula::dots; ++d) {
      const Dot& dot = dots_[d];
      products[d].sum = lanes_at(dot.sum, place);
      products[d].magnitudes =
          dot.by_magnitude * lanes_at(dot.magnitude, place) + dot.lost_magnitude;
      if constexpr (Streams::takes_squares)
        products[d].squares = dot.by_square * lanes_at(dot.square, place) + dot.lost_square;
    }
    return products;
  }

  template <int c>
  [[gnu::always_inline]] void put_coefficients(const Fill& fill,
                                               const typename Streams::Number* pair,
                                               const TileRow<Formula::symbols>& row,
                                               std::size_t place) {
    constexpr bool within = summed<c>(true), over = summed<c>(false);
    Places<Streams::doubles, Streams::floats> to;
    for (int s = 0; s < Streams::doubles; ++s)
      to.in_double[s] = coefficients_[c].in_double[s].data();
    for (int s = 0; s < Streams::floats; ++s) to.in_float[s] = coefficients_[c].in_float[s].data();
    fill.streams.template put_pair<within, over>(pair[c], row.symbols_of, lanes_at(times_, place),
                                                 fill.scales[c], to,
                                                 static_cast<std::int64_t>(place));
    if constexpr (c + 1 < Formula::coefficients) put_coefficients<c + 1>(fill, pair, row, place);
  }

  template <int c>
  static constexpr bool summed(bool within) {
    for (const SumOf& sum : Formula::sums)
      if (sum.coefficient == c && sum.within == within) return true;
    return false;
  }

  [[gnu::always_inline]] void fill_all(const Fill& fill) {
    for (std::int64_t i = fill.of.first; i < fill.of.last; ++i) {
      const auto& row = rows[at(i - fill.of.first)];
      const typename Streams::template Reading<Lanes> on(fill.formula.units(), row.symbols_of);
      for (std::int64_t c = 0; c < fill.keys; c += lanes_of<Lanes>) {
        const std::size_t place = at((i - fill.of.first) * pitch_ + c);
        std::array<Lanes, Formula::sides> sides;
        for (int k = 0; k < Formula::sides; ++k) sides[k] = lanes_at(sides_[k], place);
        const auto pair = fill.formula.pair(on, i, row.numbers, products_at(place), sides);
        put_coefficients<0>(fill, pair.data(), row, place);
      }
    }
  }
  void fill_portable(const Fill& fill) { fill_all(fill); }
#if defined(__x86_64__)
  [[gnu::target("avx2")]] void fill_avx2(const Fill& fill) { fill_all(fill); }
  [[gnu::target("avx512f,avx512dq")]] void fill_avx512(const Fill& fill) { fill_all(fill); }
#endif

  std::int64_t pitch_;
  std::size_t row_ = static_cast<std::size_t>(pitch_);
  std::array<Dot, Formula::dots> dots_;
  std::array<std::vector<double>, Formula::sides> sides_;
  std::vector<double> times_;
  std::array<Matrices, Formula::coefficients> coefficients_;
};

}  // namespace assay::engine
