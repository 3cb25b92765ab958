#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "assay/engine/algebra/tolerance.hpp"
#include "assay/engine/blocks/product.hpp"
#include "assay/engine/blocks/streams.hpp"
#include "assay/engine/lanes.hpp"

namespace assay::engine {

/// One output: a sum over pairs; each summand is a coefficient times a row of an operand. A sum
/// within rows runs over the keys of a row and multiplies rows of the right operand. A sum over
/// rows runs over the rows of a key and multiplies rows of the left operand.
struct SumOf {
  std::size_t coefficient = 0;
  bool within = true;
  std::size_t operand = 0;
};

/// `RowSums` can use several kinds of weights; this is their number.
inline constexpr std::size_t kinds_of_weights = 2;

/// Sums that are computed for one row of an output in addition to its elements. They run over the
/// pairs of the row; each pair is multiplied by its count. `size` sums |c|. `spread` sums, for each
/// kind of weights, the `moment` of c times the weight of the operand's row; `spread_squares` sums
/// the squares. `overflow` is not 0 if a coefficient may overflow.
struct RowSums {
  double size = 0, overflow = 0;
  std::array<double, kinds_of_weights> spread{}, spread_squares{};
};

/// The numbers that were computed for a row before its pairs.
template <std::size_t symbols>
struct TileRow {
  std::array<double, symbols> numbers{};
  std::array<Symbol, symbols> symbols_of{};
};

/// A dot product: its matrices, the factors that undo the scaling of its magnitudes and squares,
/// and the largest error by underflow, which is added to the bound (blocks/README.md, B1).
struct DotMatrices {
  const double* sum = nullptr;
  const float *magnitude = nullptr, *square = nullptr;
  double by_magnitude = 1, lost_magnitude = 0, by_square = 1, lost_square = 0;
};

/// Pointers to the `RowSums` of one sum of a block, and to the weights of the keys or rows of the
/// block. A kind of weights that is not used has a null pointer.
struct SideSums {
  std::array<const double*, kinds_of_weights> weights{};
  RowSums* of_rows = nullptr;  ///< for a sum within rows, one per row
  /// For a sum over rows: one number per key.
  double *sizes = nullptr, *overflows = nullptr;
  std::array<double*, kinds_of_weights> spreads{}, spread_squares{};
};

/// The pairs of a block of rows and keys: the input of `read_pairs`. The rows of its matrices are
/// `pitch` numbers apart. A row may be read and written up to the next multiple of eight keys.
template <class Streams, class Formula>
struct PairBlock {
  const Formula& formula;
  const Streams& streams;
  std::int64_t first_row = 0, rows = 0, keys = 0, pitch = 0;
  const TileRow<Formula::symbols>* of_rows = nullptr;
  std::array<DotMatrices, Formula::dots> dots{};
  std::array<const double*, Formula::sides> sides{};
  const double* times = nullptr;
  std::array<CoefficientScales, Formula::coefficients> scales{};
  std::array<Places<Streams::doubles, Streams::floats>, Formula::coefficients> coefficients{};
  std::array<SideSums, Formula::sums.size()> side_sums{};
};

[[gnu::always_inline]] inline Lanes lanes_at(const double* of, std::int64_t place) {
  Lanes x;
  __builtin_memcpy(&x, of + place, sizeof x);
  return x;
}
[[gnu::always_inline]] inline Lanes lanes_at(const float* of, std::int64_t place) {
  FloatLanes x;
  __builtin_memcpy(&x, of + place, sizeof x);
  return __builtin_convertvector(x, Lanes);
}

template <class Streams>
[[gnu::always_inline]] inline Products<Lanes> products_at(const DotMatrices& dot,
                                                          std::int64_t place) {
  Products<Lanes> products;
  products.sum = lanes_at(dot.sum, place);
  products.magnitudes = dot.by_magnitude * lanes_at(dot.magnitude, place) + dot.lost_magnitude;
  if constexpr (Streams::takes_squares)
    products.squares = dot.by_square * lanes_at(dot.square, place) + dot.lost_square;
  return products;
}

/// Returns whether sums of that kind (within rows, or over rows) use coefficient c.
template <class Formula>
constexpr bool summed(std::size_t c, bool within) {
  for (const SumOf& sum : Formula::sums)
    if (sum.coefficient == c && sum.within == within) return true;
  return false;
}

template <std::size_t c, class Streams, class Formula>
[[gnu::always_inline]] inline void put_coefficients(const PairBlock<Streams, Formula>& block,
                                                    const typename Streams::Number* pair,
                                                    const TileRow<Formula::symbols>& row,
                                                    std::int64_t place) {
  block.streams.template put_pair<summed<Formula>(c, true), summed<Formula>(c, false)>(
      pair[c], row.symbols_of, lanes_at(block.times, place), block.scales[c], block.coefficients[c],
      place);
  if constexpr (c + 1 < Formula::coefficients) put_coefficients<c + 1>(block, pair, row, place);
}

/// Adds eight numbers to those at `to`.
[[gnu::always_inline]] inline void add_lanes(double* to, const Lanes& x) {
  put(to, lanes_at(to, 0) + x);
}
/// Returns the sum of all lanes, added in ascending order.
[[gnu::always_inline]] inline double sum_of(const Lanes& x) {
  double sum = 0;
  for (int k = 0; k < lanes_of<Lanes>; ++k) sum += x[k];
  return sum;
}

/// The same sums as `RowSums` in eight lanes: lane k sums every eighth pair of a row.
struct LaneSums {
  Lanes size{}, overflow{};
  std::array<Lanes, kinds_of_weights> spread{}, spread_squares{};

  [[gnu::always_inline]] void add_to(RowSums& row) const {
    row.size += sum_of(size);
    row.overflow += sum_of(overflow);
    for (std::size_t k = 0; k < kinds_of_weights; ++k) {
      row.spread[k] += sum_of(spread[k]);
      row.spread_squares[k] += sum_of(spread_squares[k]);
    }
  }
};

/// Adds the contribution of eight pairs to sum number s.
template <std::size_t s, class Streams, class Formula>
[[gnu::always_inline]] inline void add_sides(const PairBlock<Streams, Formula>& block,
                                             const typename Streams::Number* pair, std::int64_t row,
                                             std::int64_t key, const Lanes& times,
                                             std::array<LaneSums, Formula::sums.size()>& of_row) {
  constexpr SumOf sum = Formula::sums[s];
  const SideSums& to = block.side_sums[s];
  const auto& c = pair[sum.coefficient];
  const Lanes size = where(times, magnitude_of(c.number.value) * times);
  const Lanes overflow = where(times, c.overflow);
  const Lanes spread = where(times, c.number.moment * square(times));
  if constexpr (sum.within) {
    of_row[s].size += size;
    of_row[s].overflow += overflow;
  } else if (to.sizes != nullptr) {
    add_lanes(to.sizes + key, size);
    add_lanes(to.overflows + key, overflow);
  }
  for (std::size_t k = 0; k < kinds_of_weights; ++k) {
    if (to.weights[k] == nullptr) continue;
    if constexpr (sum.within) {
      const Lanes weighted = spread * lanes_at(to.weights[k], key);
      of_row[s].spread[k] += weighted;
      of_row[s].spread_squares[k] += square(weighted);
    } else {
      const Lanes weighted = spread * to.weights[k][row];
      add_lanes(to.spreads[k] + key, weighted);
      add_lanes(to.spread_squares[k] + key, square(weighted));
    }
  }
  if constexpr (s + 1 < Formula::sums.size())
    add_sides<s + 1>(block, pair, row, key, times, of_row);
}

/// Evaluates the formula for all pairs of a block, eight at a time, with the instructions for which
/// the caller is compiled. Each operator calls this function in one file, which CMake's
/// assay_add_pairs() compiles once per instruction set.
template <class Streams, class Formula>
[[gnu::always_inline]] inline void read_pairs(const PairBlock<Streams, Formula>& block) {
  for (std::int64_t r = 0; r < block.rows; ++r) {
    const TileRow<Formula::symbols>& row = block.of_rows[r];
    const typename Streams::template Reading<Lanes> on(block.formula.units(), row.symbols_of);
    std::array<LaneSums, Formula::sums.size()> of_row;
    for (std::int64_t c = 0; c < block.keys; c += lanes_of<Lanes>) {
      const std::int64_t place = r * block.pitch + c;
      std::array<Products<Lanes>, Formula::dots> products;
      for (std::size_t d = 0; d < Formula::dots; ++d)
        products[d] = products_at<Streams>(block.dots[d], place);
      std::array<Lanes, Formula::sides> sides;
      for (std::size_t k = 0; k < Formula::sides; ++k) sides[k] = lanes_at(block.sides[k], place);
      const auto pair = block.formula.pair(on, block.first_row + r, row.numbers, products, sides);
      put_coefficients<0>(block, pair.data(), row, place);
      if constexpr (Streams::takes_sides)
        add_sides<0>(block, pair.data(), r, c, lanes_at(block.times, place), of_row);
    }
    if constexpr (Streams::takes_sides)
      for (std::size_t s = 0; s < Formula::sums.size(); ++s)
        if (block.side_sums[s].of_rows != nullptr) of_row[s].add_to(block.side_sums[s].of_rows[r]);
  }
}

/// A tag type: selects the functions that were compiled for one instruction set.
template <Instructions instructions>
struct CompiledFor {};

/// Calls read(CompiledFor<...>()) with that instruction set, or with the fastest set that this
/// machine executes.
template <class Read>
void read_with(Instructions instructions, const Read& read) {
  if (instructions == Instructions::fastest) instructions = fastest_instructions();
#if defined(__x86_64__)
  if (instructions == Instructions::avx512) return read(CompiledFor<Instructions::avx512>());
  if (instructions == Instructions::avx2) return read(CompiledFor<Instructions::avx2>());
#endif
  read(CompiledFor<Instructions::portable>());
}

}  // namespace assay::engine
