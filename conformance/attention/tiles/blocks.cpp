#include "attention/tiles/blocks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <utility>

#include "attention/bound/sums.hpp"
#include "attention/tiles/errors.hpp"

namespace assay::conformance::tiles {
namespace {

using attention::at;
using attention::Dense;
using engine::square;

/// The keys and values of a tile, stored transposed.
struct Panel {
  std::vector<Line> key, value;
  KeyNorms norms;
};

/// Sums over pairs of one kv head: some query tiles with all key tiles.
class Chunk {
 public:
  Chunk(const Dense& dense, const Arithmetic& arithmetic, const attention::AllRowTerms& rows,
        const RowSigns& signs, const RowSigns& key_signs, std::vector<QueryTile>& queries,
        std::vector<KeyTile>& keys)
      : dense_(dense),
        n_(arithmetic),
        call_(attention::call_of(dense, arithmetic)),
        rows_(rows),
        signs_(signs),
        key_signs_(key_signs),
        queries_(queries),
        keys_(keys) {}

  void sum() {
    for (KeyTile& keys : keys_) {
      bool packed = false;
      for (QueryTile& queries : queries_) {
        if ((!keys.wanted && !queries.wanted) || !meet(queries, keys.tile)) continue;
        if (!std::exchange(packed, true)) pack(keys.tile);
        add_block(queries, keys);
      }
    }
  }

 private:
  static bool meet(const QueryTile& queries, const Tile& keys) {
    return std::ranges::any_of(queries.ranges, [&](const reference::KeyRange& range) {
      return range.first < keys.first + keys.count && range.last > keys.first;
    });
  }

  void pack(const Tile& tile) {
    key_numbers_ = attention::ascending(tile.first, tile.first + tile.count);
    panel_.norms = {};
    signs_of_keys_.fill(0);
    panel_.key.assign(at(dense_.width()), Line{});
    panel_.value.assign(at(dense_.problem.head_dim_v), Line{});
    for (std::int64_t c = 0; c < tile.count; ++c) {
      const attention::FloatRow k = dense_.key(tile.b, tile.n, tile.first + c);
      const attention::FloatRow v = dense_.value(tile.b, tile.n, tile.first + c);
      for (std::size_t d = 0; d < panel_.key.size(); ++d) {
        panel_.key[d][at(c)] = k[d];
        panel_.norms.key_most = std::max(panel_.norms.key_most, std::abs(k[d]));
      }
      for (std::size_t d = 0; d < panel_.value.size(); ++d) panel_.value[d][at(c)] = v[d];
      panel_.norms.key =
          std::max(panel_.norms.key, std::sqrt(attention::norm_squared(k.data(), dense_.width())));
      panel_.norms.value =
          std::max(panel_.norms.value,
                   std::sqrt(attention::norm_squared(v.data(), dense_.problem.head_dim_v)));
      signs_of_keys_[at(c)] = key_signs_(dense_.keys.row(tile.b, tile.n, tile.first + c));
    }
  }

  void add_block(QueryTile& queries, KeyTile& keys) {
    const auto& [b, n, first, count] = queries.tile;
    std::vector<std::int64_t> attending;
    std::vector<double> query_rows, dy_rows;
    const auto append = [](std::vector<double>& rows, const attention::FloatRow& row,
                           std::int64_t dim) {
      rows.insert(rows.end(), row.data(), row.data() + dim);
    };
    std::array<std::uint8_t, static_cast<std::size_t>(tile_rows)> times{};
    for (std::int64_t r = 0; r < count; ++r) {
      if (!rows_.rows[at(dense_.queries.row(b, n, first + r))].live ||
          !dense_.key_pattern->count({b, n, first + r}, key_numbers_,
                                     std::span(times).first(key_numbers_.size())))
        continue;
      Line& of_row = times_[attending.size()];
      of_row.fill(0);
      std::copy_n(times.begin(), key_numbers_.size(), of_row.begin());
      attending.push_back(r);
      append(query_rows, dense_.query(b, n, first + r), dense_.width());
      append(dy_rows, dense_.dy(b, n, first + r), dense_.problem.head_dim_v);
    }
    if (attending.empty()) return;
    multiply(query_rows, panel_.key.data(), dense_.width(), score_.data());
    multiply(dy_rows, panel_.value.data(), dense_.problem.head_dim_v, dprob_.data());
    columns_ = {};
    for (std::size_t k = 0; k < attending.size(); ++k) add_query(queries, keys, attending[k], k);
    for (std::size_t c = 0; c < key_numbers_.size(); ++c)
      queries.sums.add({.value = dense_.scale * columns_.value[c],
                        .magnitude = std::abs(dense_.scale) * columns_.magnitude[c],
                        .rigorous = std::abs(dense_.scale) * columns_.rigorous[c],
                        .squares = square(dense_.scale) * columns_.squares[c],
                        .linear = std::abs(dense_.scale) * columns_.linear[c]},
                       dense_.key(b, keys.tile.n, key_numbers_[c]));
  }

  /// score_[k] contains the dot products of one query with the keys. Converts them into scaled
  /// scores with bias. Returns the largest |bias|.
  double add_features(const spec::RowPosition& query, std::size_t k) {
    for (double& score : score_[k]) score *= dense_.scale;
    kappa_.fill(1);
    double most = 0;
    for (std::size_t c = 0; c < key_numbers_.size(); ++c) {
      if (pairs_.times[c] == 0) continue;
      if (dense_.position_bias.present()) {
        const double bias = dense_.bias(query.b, query.n, query.s, key_numbers_[c]);
        score_[k][c] += bias;
        most = std::max(most, std::abs(bias));
      }
      if (dense_.problem.has_dropout())
        kappa_[c] = dense_.kappa(query.b, query.n, query.s, key_numbers_[c]);
    }
    return most;
  }

  /// Adds the pairs of query r of its tile to the sums. score_[k] contains the dot products of this
  /// query.
  void add_query(QueryTile& queries, KeyTile& keys, std::int64_t r, std::size_t k) {
    const auto& [b, n, first, count] = queries.tile;
    const spec::RowPosition query{b, n, first + r};
    const std::int64_t number = dense_.queries.row(b, n, first + r);
    const attention::RowTerms& row = rows_.rows[at(number)];
    const attention::FloatRow q = dense_.query(b, n, first + r);
    const attention::FloatRow dy = dense_.dy(b, n, first + r);
    pairs_.times = times_[k];
    panel_.norms.bias = add_features(query, k);
    fill_pairs({.exponent = score_[k],
                .dprob = dprob_[k],
                .kappa = kappa_,
                .softmax_max = row.max,
                .softmax_sum = row.sum,
                .delta = row.delta},
               pairs_);
    const RowNorms& norms = queries.norms[at(r)];
    const PairErrors errors =
        pair_errors(dense_, n_, call_, row, norms.query, norms.dy, panel_.norms);
    const RowSums sums = row_sums(pairs_, signs_of_keys_);
    add_columns(pairs_, signs_(number), {errors.rigorous, errors.squares, errors.linear}, columns_);
    SharedByRow& shared = queries.rows[at(r)];
    shared.prob +=
        panel_.norms.key_most * ((1 + errors.prob.prob) * sums.prob + errors.prob.one * sums.times);
    shared.dscore += panel_.norms.key_most * sums.dscore;
    shared.size += sums.dscore;
    add_to_keys(keys, row, errors, sums, q, dy);
    mark_overflow(queries, keys, errors, sums);
  }

  void add_to_keys(KeyTile& keys, const attention::RowTerms& row, const PairErrors& e,
                   const RowSums& s, const attention::FloatRow& q, const attention::FloatRow& dy) {
    const auto linear = [](const Linear& c, double prob, double dscore, double one) {
      return c.prob * prob + c.dscore * dscore + c.one * one;
    };
    const double scale = std::abs(dense_.scale);
    // The pairs of this query with all keys of the tile share one error: that of the query's row
    // term and statistics.
    const double shared =
        square(row.max_error.deviation * s.dscore) + square(row.delta_error.deviation * s.prob);
    keys.key.add(
        {.value = dense_.scale * s.signed_dscore,
         .magnitude = scale * s.dscore,
         .rigorous = scale * linear(e.rigorous, s.prob, s.dscore, s.times),
         .squares = square(scale) *
                    (linear(e.squares, s.prob_squared, s.dscore_squared, s.times_squared) + shared),
         .linear = scale * (linear(e.linear, s.prob, s.dscore, s.times) +
                            row.max_error.shared * s.dscore + row.delta_error.shared * s.prob)},
        q);
    keys.value.add({.value = s.signed_value,
                    .magnitude = s.value,
                    .rigorous = linear(e.value_rigorous, s.value, 0, s.times),
                    .squares = linear(e.value_squares, s.value_squared, 0, s.times_squared) +
                               square(row.max_error.deviation * s.value),
                    .linear = linear(e.value_linear, s.value, 0, s.times)},
                   dy);
  }

  /// Tiles in which an fp16 intermediate may overflow are not judged, because their sums are then
  /// unknown.
  void mark_overflow(QueryTile& queries, KeyTile& keys, const PairErrors& e,
                     const RowSums& s) const {
    constexpr spec::DType fp16 = spec::DType::fp16;
    const double dscore =
        s.most_dscore * (1 + e.dscore.dscore) + e.dscore.prob * s.prob + e.dscore.one * s.times;
    const double value =
        s.most_value * (1 + e.prob.prob + 3 * n_.u) + dense_.largest_kappa * e.prob.one;
    const bool stages = n_.numerics.stage == fp16;
    const bool overflows = (stages && dscore >= overflow_threshold(fp16)) ||
                           (n_.numerics.store_dp == fp16 && e.dprob >= largest_finite(fp16));
    queries.sums.exempt |= overflows;
    keys.key.exempt |= overflows;
    keys.value.exempt |= stages && value >= overflow_threshold(fp16);
  }

  const Dense& dense_;
  const Arithmetic& n_;
  attention::Call call_;
  const attention::AllRowTerms& rows_;
  RowSigns signs_, key_signs_;
  std::vector<QueryTile>& queries_;
  std::vector<KeyTile>& keys_;

  std::vector<std::int64_t> key_numbers_;
  Panel panel_;
  Line signs_of_keys_{}, kappa_{};
  std::array<Line, static_cast<std::size_t>(tile_rows)> times_{}, score_{}, dprob_{};
  Pairs pairs_{};
  ColumnSums columns_;
};

}  // namespace

void add_blocks(const Dense& dense, const Arithmetic& arithmetic,
                const attention::AllRowTerms& rows, const RowSigns& query_signs,
                const RowSigns& key_signs, std::vector<QueryTile>& queries,
                std::vector<KeyTile>& keys) {
  // The object is on the heap because it is too large for the stack.
  std::make_unique<Chunk>(dense, arithmetic, rows, query_signs, key_signs, queries, keys)->sum();
}

}  // namespace assay::conformance::tiles
