#include "flash_attention_score_grad/pairs/products.hpp"

#include <algorithm>

#include "operands/products.hpp"

namespace assay::optimized {
namespace {

using device::ceil_divide;

std::int64_t pairs_of(std::int64_t numbers) { return ceil_divide(numbers, 2); }

void carve(PairTiles& t, CarverOf<tile::Pair>& carver, const Tiling& tiling, std::int64_t channels,
           std::int64_t channels_v) {
  const std::int64_t rows = tiling.rows, columns = tiling.columns;
  const std::int64_t d = pairs_of(channels), dv = pairs_of(channels_v);
  t.stored = carver.tile(columns, std::max(d, dv));
  // Rounds the row length up to full groups of pairs, because interleaved rows consist of such
  // groups.
  const auto vertical = [&](std::int64_t count, std::int64_t pairs) {
    return carver.tile(pairs_of(count), 2 * device::round_up(pairs, tile::lanes));
  };
  t.key_transposed = carver.tile(d, columns), t.value_transposed = carver.tile(dv, columns);
  t.key_vertical = vertical(columns, d);
  t.query = carver.tile(rows, d), t.query_vertical = vertical(rows, d);
  t.dy = carver.tile(rows, dv), t.dy_vertical = vertical(rows, dv);
  t.prob_vertical = vertical(rows, pairs_of(columns));
  t.dscore_vertical = vertical(rows, pairs_of(columns));
  t.dscore = carver.tile(rows, pairs_of(columns));
}

/// Fills the rest of each row, after its last channel, with zeros up to the end of the last group
/// of vector lanes.
void clear_rest(const PairTile& tile, std::int64_t rows, std::int64_t channels) {
  const std::int64_t whole = 2 * device::round_up(pairs_of(channels), tile::lanes);
  for (std::int64_t i = 0; i < rows && channels < whole; ++i)
    std::fill_n(reinterpret_cast<std::byte*>(tile.row(i)) + 2 * channels, 2 * (whole - channels),
                std::byte{0});
}

std::uint16_t least_of(const PairTile& tile, std::int64_t rows, std::int64_t pairs) {
  std::uint16_t least = 0xFFFF;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t k = 0; k < pairs; ++k)
      for (const tile::Pair half : {tile.row(i)[k], tile.row(i)[k] >> 16})
        least = std::min(least, static_cast<std::uint16_t>((half & 0x7FFFU) - 1));
  return least;
}

/// `least` and `other` are the smallest magnitudes of two operands. Returns whether every product
/// of their elements, and every non-zero sum of such products, is a normal number. Each sum is a
/// multiple of 2^-14 times the powers of two of both magnitudes.
bool stays_normal(std::uint16_t least, std::uint16_t other) {
  constexpr std::int32_t all_zero = 0xFFFF, bias = 127, least_normal = -126, digits = 14;
  if (least == all_zero || other == all_zero) return true;
  const std::int32_t x = (least + 1) >> 7, y = (other + 1) >> 7;
  return x > 0 && y > 0 && x + y - 2 * bias >= least_normal + digits;
}

}  // namespace

void PairProducts::prepare(const Tiling& tiling, PairTiles& tiles) const {
  CarverOf<tile::Pair> carver;
  carve(tiles, carver, tiling, channels_, value_.dim());
  carver.start(tiles.storage.reserve(carver.used()));
  carve(tiles, carver, tiling, channels_, value_.dim());
}

void PairProducts::load_keys(const RowSpan& keys, PairTiles& t) const {
  const std::int64_t d = pairs_of(channels_), dv = pairs_of(value_.dim());
  t.columns = keys.count;
  value_.read_stored(keys, t.stored, 0);
  clear_rest(t.stored, keys.count, value_.dim());
  t.least_value = least_of(t.stored, keys.count, dv);
  transpose(t.stored, keys.count, dv, t.value_transposed);
  key_.read_stored(keys, t.stored);
  clear_rest(t.stored, keys.count, channels_);
  transpose(t.stored, keys.count, d, t.key_transposed);
  t.least_key = kernels_->interleave({.from = t.stored.at,
                                      .from_row = t.stored.stride,
                                      .to = t.key_vertical.at,
                                      .to_row = t.key_vertical.stride,
                                      .rows = keys.count,
                                      .pairs = d});
}

void PairProducts::load_rows(const RowSpan& rows, PairTiles& t) const {
  t.rows = rows.count;
  query_.read_stored(rows, t.query);
  dy_.read_stored(rows, t.dy, 0);
  const auto take_apart = [&](const PairTile& stored, std::int64_t channels, const PairTile& to) {
    clear_rest(stored, rows.count, channels);
    return kernels_->interleave({.from = stored.at,
                                 .from_row = stored.stride,
                                 .to = to.at,
                                 .to_row = to.stride,
                                 .rows = rows.count,
                                 .pairs = pairs_of(channels)});
  };
  t.least_query = take_apart(t.query, channels_, t.query_vertical);
  t.least_dy = take_apart(t.dy, dy_.dim(), t.dy_vertical);
}

void PairProducts::multiply(const PairFactors& f, const Tile& result, tile::Sum sum) const {
  kernels_->multiply({.a = f.left.at,
                      .a_row = f.left_transposed ? 1 : f.left.stride,
                      .a_depth = f.left_transposed ? f.left.stride : 1,
                      .b = f.right.at,
                      .b_row = f.right.stride,
                      .c = result.at,
                      .c_row = result.stride,
                      .rows = f.rows,
                      .columns = f.columns,
                      .depth = f.depth,
                      .sum = sum,
                      .asked = f.asked});
}

bool PairProducts::scores(const PairTiles& t, const tile::RowRange* asked, const Tile& scores,
                          const Tile& dprob) const {
  if (!stays_normal(t.least_query, t.least_key) || !stays_normal(t.least_dy, t.least_value))
    return false;
  multiply({t.query, false, t.key_transposed, t.rows, t.columns, pairs_of(channels_), asked},
           scores, tile::Sum::start);
  multiply({t.dy, false, t.value_transposed, t.rows, t.columns, pairs_of(value_.dim()), asked},
           dprob, tile::Sum::start);
  return true;
}

bool PairProducts::commit(const Tile& prob, const Tile& dscore, PairTiles& t) const {
  const tile::LeastCommitted least = kernels_->commit({.prob = prob.at,
                                                       .dscore = dscore.at,
                                                       .row_stride = prob.stride,
                                                       .rows = t.rows,
                                                       .columns = t.columns,
                                                       .floor = probability_floor,
                                                       .prob_vertical = t.prob_vertical.at,
                                                       .dscore_vertical = t.dscore_vertical.at,
                                                       .vertical_row = t.prob_vertical.stride,
                                                       .dscore_horizontal = t.dscore.at,
                                                       .horizontal_row = t.dscore.stride});
  return stays_normal(least.prob, t.least_dy) && stays_normal(least.dscore, t.least_query) &&
         stays_normal(least.dscore, t.least_key);
}

void PairProducts::add_dv(const PairTiles& t, const Tile& sums, tile::Sum sum) const {
  multiply({t.prob_vertical, true, t.dy_vertical, t.columns, dy_.dim(), pairs_of(t.rows)}, sums,
           sum);
}

void PairProducts::add_dk(const PairTiles& t, const Tile& sums, tile::Sum sum) const {
  multiply({t.dscore_vertical, true, t.query_vertical, t.columns, channels_, pairs_of(t.rows)},
           sums, sum);
}

void PairProducts::add_dq(const PairTiles& t, const Tile& sums, tile::Sum sum) const {
  multiply({t.dscore, false, t.key_vertical, t.rows, channels_, pairs_of(t.columns)}, sums, sum);
}

}  // namespace assay::optimized
