#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "assay/engine/blocks/index_set.hpp"
#include "assay/engine/blocks/operand.hpp"
#include "assay/engine/blocks/pairs.hpp"
#include "assay/engine/blocks/product.hpp"
#include "assay/engine/blocks/streams.hpp"

namespace assay::engine {

/// Returns two factors. The first scales coefficients of magnitude `size` to 2^40; the second
/// scales their squares to 2^50 (engine/blocks/README.md, B1).
inline CoefficientScales coefficient_scales_of(double size) {
  if (!(size > 0) || !std::isfinite(size)) return {0x1p40, 0x1p50};
  const int exponent = std::clamp(std::ilogb(size), -400, 400);
  return {std::ldexp(1.0, 40 - exponent), std::ldexp(1.0, 50 - 2 * exponent)};
}

/// All pairs of one block of rows and one block of keys: their dot products and the matrices of
/// their coefficients.
template <class Streams, class Formula>
class Tile {
 public:
  /// `taken` has one flag for each matrix of doubles. The flag says whether this matrix is
  /// computed.
  Tile(std::int64_t most_rows, std::int64_t most_keys,
       const std::array<bool, Streams::doubles>& taken, Instructions instructions)
      : pitch_(padded(most_keys) + 16), instructions_(instructions) {
    const auto count = static_cast<std::size_t>(most_rows * pitch_);
    for (auto& dot : dots_) {
      dot.sum.resize(count);
      if (by_norm) continue;
      dot.magnitude.resize(count);
      dot.square.resize(count);
    }
    for (auto& side : sides_) side.resize(count);
    times_.resize(count);
    for (std::size_t c = 0; c < Formula::coefficients; ++c) {
      for (std::size_t s = 0; s < Streams::doubles; ++s)
        if (taken[s]) coefficients_[c].in_double[s].resize(count);
      for (auto& stream : coefficients_[c].in_float) stream.resize(count);
    }
    for (auto& side : side_sums_) side.resize(pitch_);
    if constexpr (by_norm)
      for (std::size_t s = 0; s < Formula::sums.size(); ++s)
        radii_[s].resize(at(Formula::sums[s].within ? most_rows : pitch_));
  }

  std::vector<TileRow<Formula::symbols>> rows;

  /// Computes dot product d between `count` rows of the left operand and all columns of the right
  /// operand.
  void multiply_dot(std::size_t d, const LeftRows& left, std::int64_t count, const Panels& right) {
    Dot& dot = dots_[d];
    multiply_rows(left.value, right.value, dot.sum, count, right);
    if constexpr (by_norm) {
      dot.scaled.of_rows = left.norm.data();
      dot.scaled.of_keys = right.norm.data();
    } else {
      multiply_rows(left.magnitude, right.magnitude, dot.magnitude, count, right);
      multiply_rows(left.square, right.square, dot.square, count, right);
    }
  }
  /// Sets two factors for dot product d, one for magnitudes and one for squares. Each factor undoes
  /// the scaling and covers the rounding in float (engine/blocks/README.md, B1).
  void set_dot_scales(std::size_t d, std::int64_t terms, double magnitude, double square) {
    const auto count = static_cast<double>(terms);
    const double slack = 1 + (count + 8) * 0x1p-24;
    dots_[d].scaled.by_magnitude = slack / magnitude;
    dots_[d].scaled.lost_magnitude = count * 0x1p-148 / magnitude;
    dots_[d].scaled.by_square = slack / square;
    dots_[d].scaled.lost_square = count * 0x1p-148 / square;
  }

  /// Fills the occurrence counts of the pairs. Returns whether any pair occurs.
  bool count_pairs(const IndexSet& index, Range of, Range keys) {
    const auto count = static_cast<std::size_t>(keys.last - keys.first);
    for (std::int64_t i = of.first; i < of.last; ++i) {
      const std::size_t place = at((i - of.first) * pitch_);
      std::fill_n(times_.begin() + static_cast<std::ptrdiff_t>(place), pitch_, 0.0);
      index.counts(i, keys.first, {times_.data() + place, count});
    }
    const auto last = times_.begin() + (of.last - of.first) * pitch_;
    return std::any_of(times_.begin(), last, [](double times) { return times != 0; });
  }

  /// Reads all pairs.
  void fill(const Formula& formula, const Streams& streams,
            const std::array<CoefficientScales, Formula::coefficients>& scales, Range of,
            Range keys) {
    fill_sides(formula, of, keys);
    PairBlock<Streams, Formula> block = {.formula = formula,
                                         .streams = streams,
                                         .first_row = of.first,
                                         .rows = of.last - of.first,
                                         .keys = keys.last - keys.first,
                                         .pitch = pitch_,
                                         .of_rows = rows.data(),
                                         .times = times_.data(),
                                         .scales = scales};
    for (std::size_t d = 0; d < Formula::dots; ++d) {
      block.dots[d] = dots_[d].scaled;
      block.dots[d].sum = dots_[d].sum.data();
      block.dots[d].magnitude = dots_[d].magnitude.data();
      block.dots[d].square = dots_[d].square.data();
    }
    for (std::size_t k = 0; k < Formula::sides; ++k) block.sides[k] = sides_[k].data();
    for (std::size_t c = 0; c < Formula::coefficients; ++c) {
      for (std::size_t s = 0; s < Streams::doubles; ++s)
        block.coefficients[c].in_double[s] =
            coefficients_[c].in_double[s].empty() ? nullptr : coefficients_[c].in_double[s].data();
      for (std::size_t s = 0; s < Streams::floats; ++s)
        block.coefficients[c].in_float[s] = coefficients_[c].in_float[s].data();
    }
    if constexpr (Streams::takes_sides)
      for (std::size_t s = 0; s < Formula::sums.size(); ++s)
        side_sums_[s].begin(formula, s, of, keys, block.side_sums[s]);
    if constexpr (by_norm)
      for (std::size_t s = 0; s < Formula::sums.size(); ++s) {
        std::ranges::fill(radii_[s], 0.0);
        block.radii[s] = radii_[s].data();
      }
    Formula::read(instructions_, block);
  }

  /// Adds the block's `RowSums` (additional sums per row) of output `sum` to those in `to`.
  void add_sides_of_rows(std::size_t sum, std::vector<RowSums>& to) const {
    for (std::size_t r = 0; r < rows.size(); ++r) add(side_sums_[sum].of_rows[r], to[r]);
  }
  void add_sides_of_keys(std::size_t sum, std::vector<RowSums>& to, std::int64_t keys) const {
    const auto& side = side_sums_[sum];
    for (std::size_t k = 0; k < at(keys); ++k) {
      RowSums one = {.size = side.sizes[k], .overflow = side.overflows[k]};
      for (std::size_t w = 0; w < kinds_of_weights; ++w) {
        one.spread[w] = side.spreads[w][k];
        one.spread_squares[w] = side.spread_squares[w][k];
      }
      add(one, to[k]);
    }
  }

  /// Adds this block's contribution to the accumulators of output s. `scales`: of its coefficients.
  template <class Accumulators>
  void add(std::size_t s, std::int64_t count, std::int64_t keys, const Panels& operand,
           const CoefficientScales& scales, Accumulators& to) const {
    const SumOf& sum = Formula::sums[s];
    const auto& c = coefficients_[sum.coefficient];
    const std::size_t doubles = sum.within ? Streams::doubles_within : Streams::doubles_over;
    const Cut cut = {sum.within, count, keys, operand.columns};
    for (std::size_t k = 0; k < doubles; ++k)
      if (!c.in_double[k].empty()) add_stream(cut, c.in_double[k], operand.value, to.in_double[k]);
    if constexpr (by_norm) {
      add_radii(radii_[s], cut, operand, scales, to.in_float[0]);
    } else {
      for (std::size_t k = 0; k < Streams::floats_of_sum; ++k) {
        const std::size_t stream = sum.within ? Streams::floats_within[k] : Streams::floats_over[k];
        add_stream(cut, c.in_float[stream],
                   Streams::squared[stream] ? operand.square : operand.magnitude, to.in_float[k]);
      }
    }
  }

  void add_terms_of_rows(std::vector<double>& terms) const {
    for (std::size_t r = 0; r < rows.size(); ++r)
      for (std::int64_t c = 0; c < pitch_; ++c) terms[r] += times_[r * row_ + at(c)];
  }
  void add_terms_of_keys(std::vector<double>& terms, std::int64_t keys) const {
    for (std::size_t r = 0; r < rows.size(); ++r)
      for (std::size_t k = 0; k < at(keys); ++k) terms[k] += times_[r * row_ + k];
  }

 private:
  struct Dot {
    std::vector<double> sum;
    std::vector<float> magnitude, square;
    DotMatrices scaled;  ///< multiplied with the scales
  };
  struct Matrices {
    std::array<std::vector<double>, Streams::doubles> in_double;
    std::array<std::vector<float>, Streams::floats> in_float;
  };
  /// The `RowSums` (additional sums) of one output in a block: one per row, or one per key.
  struct Sides {
    std::array<std::vector<double>, kinds_of_weights> weights;  ///< of the keys of a block
    std::vector<RowSums> of_rows;
    std::vector<double> sizes, overflows;
    std::array<std::vector<double>, kinds_of_weights> spreads, spread_squares;

    void resize(std::int64_t pitch) {
      const auto count = static_cast<std::size_t>(pitch);
      for (auto* all : {&weights, &spreads, &spread_squares})
        for (auto& one : *all) one.resize(count);
      sizes.resize(count);
      overflows.resize(count);
    }
    void begin(const Formula& formula, std::size_t s, Range rows, Range keys, SideSums& to) {
      const bool within = Formula::sums[s].within;
      if (within) {
        of_rows.assign(static_cast<std::size_t>(rows.last - rows.first), {});
        to.of_rows = of_rows.data();
      } else {
        std::ranges::fill(sizes, 0.0);
        std::ranges::fill(overflows, 0.0);
        to.sizes = sizes.data();
        to.overflows = overflows.data();
      }
      for (std::size_t k = 0; k < kinds_of_weights; ++k) {
        const double* weight = formula.weights(s, k);
        std::ranges::fill(spreads[k], 0.0);
        std::ranges::fill(spread_squares[k], 0.0);
        to.spreads[k] = spreads[k].data();
        to.spread_squares[k] = spread_squares[k].data();
        if (weight == nullptr) continue;
        if (within) std::copy(weight + keys.first, weight + keys.last, weights[k].begin());
        to.weights[k] = within ? weights[k].data() : weight + rows.first;
      }
    }
  };
  struct Cut {
    bool within;
    std::int64_t rows, keys, columns;
  };

  static std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }

  static void add(const RowSums& one, RowSums& to) {
    to.size += one.size;
    to.overflow += one.overflow;
    for (std::size_t w = 0; w < kinds_of_weights; ++w) {
      to.spread[w] += one.spread[w];
      to.spread_squares[w] += one.spread_squares[w];
    }
  }

  void fill_sides(const Formula& formula, Range of, Range keys) {
    const auto count = static_cast<std::size_t>(keys.last - keys.first);
    for (std::int64_t i = of.first; i < of.last; ++i)
      for (std::size_t k = 0; k < Formula::sides; ++k)
        formula.side(k, i, keys.first, {sides_[k].data() + at((i - of.first) * pitch_), count});
  }

  template <class T>
  void multiply_rows(const std::vector<T>& left, const std::vector<T>& right, std::vector<T>& to,
                     std::int64_t count, const Panels& panels) {
    multiply(Product<T>{.a = left.data(),
                        .a_row = panels.depth,
                        .b = right.data(),
                        .b_depth = panels.depth,
                        .c = to.data(),
                        .c_row = pitch_,
                        .rows = count,
                        .columns = panels.columns,
                        .depth = panels.depth},
             instructions_);
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
                        .c = to.data(),
                        .c_row = cut.columns,
                        .rows = cut.within ? cut.rows : cut.keys,
                        .columns = cut.columns,
                        .depth = depth,
                        .add = true},
             instructions_);
  }

  /// Adds sums of radii, one per row of the output, times the largest magnitude of each column.
  void add_radii(const std::vector<double>& radii, const Cut& cut, const Panels& operand,
                 const CoefficientScales& scales, std::vector<float>& to) const {
    std::vector<float> scaled(at(cut.within ? cut.rows : cut.keys));
    for (std::size_t k = 0; k < scaled.size(); ++k)
      scaled[k] = magnitude_in_float(radii[k], {scales.linear, 1});
    multiply(Product<float>{.a = scaled.data(),
                            .a_row = 1,
                            .a_depth = 1,
                            .b = operand.largest.data(),
                            .b_depth = 1,
                            .c = to.data(),
                            .c_row = cut.columns,
                            .rows = std::ssize(scaled),
                            .columns = cut.columns,
                            .depth = 1,
                            .add = true},
             instructions_);
  }

  static constexpr bool by_norm = Streams::bounds == Bounds::by_norm;

  std::int64_t pitch_;
  Instructions instructions_;
  std::size_t row_ = static_cast<std::size_t>(pitch_);
  std::array<Dot, Formula::dots> dots_;
  std::array<std::vector<double>, Formula::sides> sides_;
  std::vector<double> times_;
  std::array<Matrices, Formula::coefficients> coefficients_;
  std::array<Sides, Formula::sums.size()> side_sums_;
  std::array<std::vector<double>, Formula::sums.size()> radii_;  ///< of PairBlock
};

}  // namespace assay::engine
