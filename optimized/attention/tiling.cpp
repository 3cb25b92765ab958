#include "assay/optimized/attention/tiling.hpp"

#include <algorithm>
#include <sstream>

#include "attention/features.hpp"
#include "attention/window.hpp"
#include "model/block_planner.hpp"
#include "model/regime.hpp"

namespace assay::optimized {
namespace {

using device::ceil_divide;
using device::round_up;
using Problem = spec::AttentionProblem;

void cut_sequences(const Problem& p, Tiling& tiling) {
  const bool alike = p.lengths_q.empty() && p.lengths_kv.empty() && p.sparse_mode < 6;
  for (std::int64_t b = 0; b < (alike ? 1 : p.batch); ++b)
    tiling.sequences.push_back({.seq_q = p.length_q(b),
                                .seq_kv = p.length_kv(b),
                                .rows = tiling.rows,
                                .columns = tiling.columns,
                                .row_tiles = ceil_divide(p.length_q(b), tiling.rows),
                                .key_tiles = ceil_divide(p.length_kv(b), tiling.columns),
                                .window = window_of(p, b)});
}

/// Returns the buffers that a vector core needs for the optional inputs (mask, bias, dropout) of
/// `scores` scores.
std::vector<Piece> pieces_of(const schedules::Features& features, std::int64_t scores) {
  std::vector<Piece> pieces;
  for (const auto& held : features.held)
    pieces.push_back({held.what, schedules::Features::bytes_of(held, scores)});
  return pieces;
}

}  // namespace

TileRange SequenceTiles::keys_of(std::int64_t row_tile) const {
  const std::int64_t first_row = row_tile * rows;
  const std::int64_t last_row = first_row + rows_of(row_tile) - 1;
  const std::int64_t from = std::max<std::int64_t>(0, first_row - window.before);
  const std::int64_t to = std::min(seq_kv, std::max(window.prefix, last_row + window.after + 1));
  if (from >= to) return {};
  return {.first = from / columns, .last = ceil_divide(to, columns)};
}

std::int64_t SequenceTiles::rows_of(std::int64_t row_tile) const {
  return std::min(rows, seq_q - row_tile * rows);
}

std::int64_t SequenceTiles::columns_of(std::int64_t key_tile) const {
  return std::min(columns, seq_kv - key_tile * columns);
}

std::int64_t SequenceTiles::blocks() const {
  std::int64_t count = 0;
  for (std::int64_t r = 0; r < row_tiles; ++r) count += keys_of(r).last - keys_of(r).first;
  return count;
}

std::int64_t Tiling::key_tiles() const {
  std::int64_t count = 0;
  for (const SequenceTiles& s : sequences) count += s.key_tiles;
  return repeats() * count;
}

std::int64_t Tiling::blocks() const {
  std::int64_t count = 0;
  for (const SequenceTiles& s : sequences) count += s.blocks();
  return repeats() * count;
}

Tiling plan(const Problem& p, const device::Spec& device) {
  const std::int64_t edge = block_edge(device);
  const schedules::Features features = features_of(p);
  const BlockNeeds needs = {
      .rows = std::min(edge, round_up(p.seq_q, fractal)),
      .columns = std::min(edge, round_up(p.seq_kv, fractal)),
      .head_dim = p.head_dim,
      .head_dim_rope = p.head_dim_rope,
      .head_dim_v = p.head_dim_v,
      .element = spec::size_of(p.dtype),
      .features = [&](std::int64_t scores) { return pieces_of(features, scores); }};
  Tiling tiling{plan_block(needs, device), p.batch, {}};
  cut_sequences(p, tiling);
  return tiling;
}

std::vector<spec::Metric> regimes_of(const Tiling& tiling) {
  std::int64_t row_tiles = 0, row_tails = 0, idle_rows = 0, key_tiles = 0, key_tails = 0;
  std::int64_t possible = 0;
  for (const SequenceTiles& s : tiling.sequences) {
    row_tiles += s.row_tiles, key_tiles += s.key_tiles;
    possible += s.row_tiles * s.key_tiles;
    if (s.row_tiles > 0 && s.rows_of(s.row_tiles - 1) < s.rows) ++row_tails;
    if (s.key_tiles > 0 && s.columns_of(s.key_tiles - 1) < s.columns) ++key_tails;
    for (std::int64_t r = 0; r < s.row_tiles; ++r)
      if (s.keys_of(r).empty()) ++idle_rows;
  }
  const std::int64_t repeats = tiling.repeats(), computed = tiling.blocks();
  return {regime("query_tile.whole", repeats * (row_tiles - row_tails)),
          regime("query_tile.tail", repeats * row_tails),
          regime("query_tile.without_key", repeats * idle_rows),
          regime("key_tile.whole", repeats * (key_tiles - key_tails)),
          regime("key_tile.tail", repeats * key_tails),
          regime("block.computed", computed),
          regime("block.skipped", repeats * possible - computed),
          regime("keys.stay_in_l1", tiling.keys_stay ? 1 : 0),
          regime("keys.loaded_again", tiling.keys_stay ? 0 : 1)};
}

std::string to_text(const Tiling& t) {
  std::ostringstream text;
  text << "block " << t.rows << " x " << t.columns << " of ";
  if (t.sequences.size() == 1)
    text << t.sequences[0].row_tiles << " x " << t.sequences[0].key_tiles << " per head, "
         << t.sequences[0].blocks() << " computed\n";
  else
    text << t.batch << " sequences, " << t.blocks() << " computed per head\n";
  return text.str() + to_text(static_cast<const BlockPlan&>(t));
}

}  // namespace assay::optimized
