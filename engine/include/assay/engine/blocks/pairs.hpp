#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "assay/engine/algebra/tolerance.hpp"
#include "assay/engine/blocks/product.hpp"
#include "assay/engine/blocks/streams.hpp"
#include "assay/engine/lanes.hpp"

namespace assay::engine {

/// An output: the sum of a coefficient times an operand, within rows (over keys, whose rows the
/// right operand has) or over rows (whose rows the left one has).
struct SumOf {
  std::size_t coefficient = 0;
  bool within = true;
  std::size_t operand = 0;
};

/// What a row has computed before its pairs.
template <std::size_t symbols>
struct TileRow {
  std::array<double, symbols> numbers{};
  std::array<Symbol, symbols> symbols_of{};
};

/// The matrices of a dot product, and what those of magnitudes and squares are to be multiplied
/// with; what underflowed is added (README, B1).
struct DotMatrices {
  const double* sum = nullptr;
  const float *magnitude = nullptr, *square = nullptr;
  double by_magnitude = 1, lost_magnitude = 0, by_square = 1, lost_square = 0;
};

/// Pairs of a block of rows and keys, as `read_pairs` takes them: matrices whose rows lie `pitch`
/// numbers apart, and are readable and writable up to the next eight keys.
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

/// Whether a sum of that kind takes coefficient c.
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

/// Reads all pairs of a block, eight at a time, with the instructions for which its caller is
/// compiled: an operator calls it from one file that CMake's assay_add_pairs() compiles for each.
template <class Streams, class Formula>
[[gnu::always_inline]] inline void read_pairs(const PairBlock<Streams, Formula>& block) {
  for (std::int64_t r = 0; r < block.rows; ++r) {
    const TileRow<Formula::symbols>& row = block.of_rows[r];
    const typename Streams::template Reading<Lanes> on(block.formula.units(), row.symbols_of);
    for (std::int64_t c = 0; c < block.keys; c += lanes_of<Lanes>) {
      const std::int64_t place = r * block.pitch + c;
      std::array<Products<Lanes>, Formula::dots> products;
      for (std::size_t d = 0; d < Formula::dots; ++d)
        products[d] = products_at<Streams>(block.dots[d], place);
      std::array<Lanes, Formula::sides> sides;
      for (std::size_t k = 0; k < Formula::sides; ++k) sides[k] = lanes_at(block.sides[k], place);
      const auto pair = block.formula.pair(on, block.first_row + r, row.numbers, products, sides);
      put_coefficients<0>(block, pair.data(), row, place);
    }
  }
}

/// Names the functions of one file that is compiled for each kind of instructions.
template <Instructions instructions>
struct CompiledFor {};

/// Calls read(CompiledFor<...>()) with that kind, or the fastest that this machine has.
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
