#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "assay/engine/algebra/tolerance.hpp"
#include "assay/engine/blocks/operand.hpp"
#include "assay/engine/blocks/product.hpp"
#include "assay/engine/blocks/streams.hpp"
#include "assay/engine/lanes.hpp"

namespace assay::engine {

/// Describes one output: a sum over pairs of a coefficient times a row of an operand. If `within`
/// is true, an output row sums over its keys and uses rows of the right operand. Else, an output
/// row belongs to a key, sums over the query rows and uses rows of the left operand.
struct SumOf {
  std::size_t coefficient = 0;
  bool within = true;
  std::size_t operand = 0;
};

/// The number of different weights with which `RowSums` sums.
inline constexpr std::size_t kinds_of_weights = 2;

/// Additional sums for one output row, over the row's pairs (row, key); a pair that occurs several
/// times counts several times. c is the coefficient of a pair. `size` sums |c|. `overflow` is not 0
/// if a coefficient may overflow. `spread` sums a weight times the `moment` of c (3 times its
/// expected squared error), once for each kind of weight. `spread_squares` sums the squares of
/// these products.
struct RowSums {
  double size = 0, overflow = 0;
  std::array<double, kinds_of_weights> spread{}, spread_squares{};
};

/// The values that all pairs of a row share. They are computed once per row, before the pairs.
template <std::size_t symbols>
struct TileRow {
  std::array<double, symbols> numbers{};
  std::array<Symbol, symbols> symbols_of{};
};

/// Results of a dot product for all pairs of a block: its sums, magnitudes and squares, the factors
/// that undo their scaling, and the largest error by underflow (engine/blocks/README.md, B1). With
/// Bounds::by_norm, the norms of the rows and of the keys instead of magnitudes and squares.
struct DotMatrices {
  const double* sum = nullptr;
  const float *magnitude = nullptr, *square = nullptr;
  double by_magnitude = 1, lost_magnitude = 0, by_square = 1, lost_square = 0;
  const double *of_rows = nullptr, *of_keys = nullptr;
};

/// Pointers to the `RowSums` of one output in a block, and to the weights of the block's rows or
/// keys. If a pointer to weights is null, the corresponding weighted sum is not computed.
struct SideSums {
  std::array<const double*, kinds_of_weights> weights{};
  RowSums* of_rows = nullptr;  ///< for a sum within rows, one per row
  /// For an output whose rows belong to keys: arrays with one number per key.
  double *sizes = nullptr, *overflows = nullptr;
  std::array<double*, kinds_of_weights> spreads{}, spread_squares{};
};

/// All pairs of one block of rows and keys, the input of `read_pairs`. In its matrices, consecutive
/// rows are `pitch` numbers apart. Code may read and write a row up to the next multiple of eight
/// keys.
template <class Streams, class Formula>
struct PairBlock {
  const Formula& formula;
  const Streams& streams;
  std::int64_t first_row = 0, rows = 0, keys = 0, pitch = 0;
  const TileRow<Formula::symbols>* of_rows = nullptr;
  std::array<DotMatrices, Formula::dots> dots{};
  std::array<const double*, Formula::sides> sides{};
  const double* times = nullptr;  ///< how often each pair counts
  std::array<CoefficientScales, Formula::coefficients> scales{};
  std::array<Places<Streams::doubles, Streams::floats>, Formula::coefficients> coefficients{};
  std::array<SideSums, Formula::sums.size()> side_sums{};
  /// Only with Bounds::by_norm: for each output, the sums of the radii of its coefficients, one per
  /// row if the output sums within rows, else one per key.
  std::array<double*, Formula::sums.size()> radii{};
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

/// Returns the products of a row with the keys from `key` on. `place`: the index of the first pair.
template <class Streams>
[[gnu::always_inline]] inline Products<Lanes> products_at(const DotMatrices& dot, std::int64_t row,
                                                          std::int64_t key, std::int64_t place) {
  Products<Lanes> products;
  products.sum = lanes_at(dot.sum, place);
  if constexpr (Streams::bounds == Bounds::by_norm) {
    products.magnitudes = dot.of_rows[row] * lanes_at(dot.of_keys, key);
  } else {
    products.magnitudes = dot.by_magnitude * lanes_at(dot.magnitude, place) + dot.lost_magnitude;
    products.squares = dot.by_square * lanes_at(dot.square, place) + dot.lost_square;
  }
  return products;
}

/// Returns whether an output uses coefficient c. If `within` is true, only outputs that sum over
/// the keys of a row count; otherwise, only outputs that sum over the rows of a key.
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

/// Adds the lanes of x to the numbers at `to`.
[[gnu::always_inline]] inline void add_lanes(double* to, const Lanes& x) {
  put(to, lanes_at(to, 0) + x);
}

/// The same sums as in `RowSums`, divided into partial sums, one in each lane of V.
template <class V>
struct LaneSums {
  V size{}, overflow{};
  std::array<V, kinds_of_weights> spread{}, spread_squares{};
};

/// The partial sums of a row. Each of the `most_lanes` partial sums contains every eighth pair, so
/// that the bits of the row's sums do not depend on the number of lanes.
template <class V, std::size_t sums>
using PartialSums = std::array<std::array<LaneSums<V>, sums>, most_lanes / lanes_of<V>>;

/// Adds the partial sums of output s, in ascending order, to the sums of a row.
template <class V, std::size_t sums>
[[gnu::always_inline]] inline void add_partial_sums(const PartialSums<V, sums>& parts,
                                                    std::size_t s, RowSums& row) {
  RowSums total;
  for (const auto& part : parts)
    for (int lane = 0; lane < lanes_of<V>; ++lane) {
      total.size += part[s].size[lane];
      total.overflow += part[s].overflow[lane];
      for (std::size_t k = 0; k < kinds_of_weights; ++k) {
        total.spread[k] += part[s].spread[k][lane];
        total.spread_squares[k] += part[s].spread_squares[k][lane];
      }
    }
  row.size += total.size;
  row.overflow += total.overflow;
  for (std::size_t k = 0; k < kinds_of_weights; ++k) {
    row.spread[k] += total.spread[k];
    row.spread_squares[k] += total.spread_squares[k];
  }
}

/// Adds the contributions of the pairs in the lanes to the `RowSums` (additional sums per row) of
/// the outputs s, s + 1, ...
template <std::size_t s, class Streams, class Formula>
[[gnu::always_inline]] inline void add_sides(
    const PairBlock<Streams, Formula>& block, const typename Streams::Number* pair,
    std::int64_t row, std::int64_t key, const Lanes& times,
    std::array<LaneSums<Lanes>, Formula::sums.size()>& of_row) {
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

/// The partial sums of the radii of a row, divided like PartialSums.
template <class V, std::size_t sums>
using PartialRadii = std::array<std::array<V, sums>, most_lanes / lanes_of<V>>;

/// Adds the radii of the pairs in the lanes to the sums of the outputs s, s + 1, ...
template <std::size_t s, class Streams, class Formula>
[[gnu::always_inline]] inline void add_radii(const PairBlock<Streams, Formula>& block,
                                             const typename Streams::Number* pair, std::int64_t key,
                                             const Lanes& times,
                                             std::array<Lanes, Formula::sums.size()>& of_row) {
  constexpr SumOf sum = Formula::sums[s];
  const Lanes radius = block.streams.radius_of(pair[sum.coefficient], times);
  if constexpr (sum.within)
    of_row[s] += radius;
  else
    add_lanes(block.radii[s] + key, radius);
  if constexpr (s + 1 < Formula::sums.size()) add_radii<s + 1>(block, pair, key, times, of_row);
}

/// Stores the sums of a row's radii, added in ascending order.
template <class Streams, class Formula>
[[gnu::always_inline]] inline void put_radii(
    const PairBlock<Streams, Formula>& block, std::int64_t row,
    const PartialRadii<Lanes, Formula::sums.size()>& parts) {
  for (std::size_t s = 0; s < Formula::sums.size(); ++s) {
    if (!Formula::sums[s].within) continue;
    double total = 0;
    for (const auto& part : parts)
      for (int lane = 0; lane < lanes_of<Lanes>; ++lane) total += part[s][lane];
    block.radii[s][row] = total;
  }
}

/// Evaluates the formula for all pairs of a block, as many at a time as there are lanes. The code
/// uses the instruction set for which the caller is compiled: each operator calls this function in
/// one file, which CMake's assay_add_pairs() compiles once per instruction set.
template <class Streams, class Formula>
[[gnu::always_inline]] inline void read_pairs(const PairBlock<Streams, Formula>& block) {
  for (std::int64_t r = 0; r < block.rows; ++r) {
    const TileRow<Formula::symbols>& row = block.of_rows[r];
    const typename Streams::template Reading<Lanes> on(block.formula.units(), row.symbols_of);
    PartialSums<Lanes, Formula::sums.size()> partial_sums;
    PartialRadii<Lanes, Formula::sums.size()> partial_radii{};
    std::size_t part = 0;
    for (std::int64_t c = 0; c < block.keys; c += lanes_of<Lanes>) {
      const std::int64_t place = r * block.pitch + c;
      std::array<Products<Lanes>, Formula::dots> products;
      for (std::size_t d = 0; d < Formula::dots; ++d)
        products[d] = products_at<Streams>(block.dots[d], r, c, place);
      std::array<Lanes, Formula::sides> sides;
      for (std::size_t k = 0; k < Formula::sides; ++k) sides[k] = lanes_at(block.sides[k], place);
      const auto pair = block.formula.pair(on, block.first_row + r, row.numbers, products, sides);
      put_coefficients<0>(block, pair.data(), row, place);
      if constexpr (Streams::takes_sides)
        add_sides<0>(block, pair.data(), r, c, lanes_at(block.times, place), partial_sums[part]);
      if constexpr (Streams::bounds == Bounds::by_norm)
        add_radii<0>(block, pair.data(), c, lanes_at(block.times, place), partial_radii[part]);
      part = (part + 1) % partial_sums.size();
    }
    if constexpr (Streams::bounds == Bounds::by_norm) put_radii(block, r, partial_radii);
    if constexpr (Streams::takes_sides)
      for (std::size_t s = 0; s < Formula::sums.size(); ++s)
        if (block.side_sums[s].of_rows != nullptr)
          add_partial_sums(partial_sums, s, block.side_sums[s].of_rows[r]);
  }
}

/// A tag type that selects the functions compiled for one instruction set.
template <Instructions instructions>
struct CompiledFor {};

/// Calls read(CompiledFor<...>()) with the given instruction set. `fastest` selects the fastest
/// set that this machine supports.
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
