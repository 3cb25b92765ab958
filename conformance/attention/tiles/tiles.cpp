#include "attention/tiles/tiles.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "assay/parallel/loop.hpp"
#include "attention/bound/sums.hpp"
#include "attention/tiles/blocks.hpp"
#include "judge/tolerance.hpp"

namespace assay::conformance::tiles {
namespace {

using attention::at;
using attention::Dense;
using attention::Op;
using engine::square;

constexpr std::int64_t chunks_in_all = 8;

/// The errors of a tile's sum that do not come from single pairs.
struct Extras {
  double terms;            ///< number of terms of the last sums
  double independent = 0;  ///< squares of errors that are independent from row to row
  double shared = 0;       ///< sum of errors that may have the same sign in all rows
  bool scaled = false;     ///< an operand scaled in advance was rounded
  bool partials = false;   ///< several heads contribute, each with a rounded partial sum
  double operands = 0;     ///< loss of operands that are scaled in advance and underflow
  double heads = 0;        ///< sum over rows: heads that add to the row, plus two roundings
  double floor = 0;
};

/// Computes the tolerance of a tile's sum (equation E36).
class Finisher {
 public:
  Finisher(const Arithmetic& n, const TileRequest& request) : n_(n), averages_(request.averages) {}

  /// Equation E36. Treats the tile sum like one element, but without the roundings of the final
  /// store and of the additions. These are added when the kernel's rows are known.
  void finish(const RowFactors& s, const Extras& extras, TileSums& sums, std::size_t k) const {
    engine::Output output = {.units = units_of(n_),
                             .lambda = sums.lambda,
                             .averages = averages_ && n_.mean_free,
                             .operands = 2 * n_.u_x,
                             .scaled = extras.scaled ? 2 * n_.u_k : 0,
                             .lost = extras.operands};
    output.chain = engine::chain_of(extras.terms, output);
    const engine::Element sum = {.value = s.value,
                                 .magnitude = s.magnitude,
                                 .rigorous = s.rigorous,
                                 .squares = s.squares + extras.independent,
                                 .shared = s.linear + extras.shared};
    const auto bound = engine::bound_of(sum, output, extras.floor);
    const bool narrow = n_.numerics.partials != spec::DType::fp32 && s.magnitude > 0;
    const auto part = [&](double inner) {
      const double partials = extras.partials ? s.magnitude : 0;
      return narrow ? unit_roundoff(n_.io) * (partials + 4 * inner) +
                          extras.heads * underflow_of(n_.io)
                    : 0;
    };
    sums.value[k] = s.value;
    sums.tolerance[k] = engine::known(bound.probable + part(bound.core + bound.accumulation));
    sums.tolerance_det[k] = engine::known(bound.proven + part(bound.largest - s.magnitude));
    sums.radius[k] = bound.radius + 0x1p-46 * s.magnitude;
  }

  /// Returns the error of an element relative to |kernel's value|: 2u for scale and bias (u: the
  /// rounding unit), and more if the kernel stores partial sums in a narrow type.
  double written_share() const {
    const bool narrow = n_.numerics.partials != spec::DType::fp32;
    return 2 * n_.u + (narrow ? 2 * unit_roundoff(n_.io) : 0);
  }

 private:
  const Arithmetic& n_;
  bool averages_;
};

/// Contains all tiles of one problem while their pairs are summed.
class TileEngine {
 public:
  TileEngine(const Dense& dense, const Arithmetic& arithmetic, const attention::AllRowTerms& rows,
             const TileRequest& request)
      : dense_(dense),
        n_(arithmetic),
        rows_(rows),
        request_(request),
        finisher_(arithmetic, request),
        floor_(attention::floor_of(dense)) {
    make_tiles();
  }

  std::vector<TileSums> sums() {
    add_all_pairs();
    std::vector<TileSums> all;
    const auto of_queries = attention::parts_of(dense_.problem, "dq");
    const auto of_keys = attention::parts_of(dense_.problem, "dk");
    all.push_back(query_tensor(of_queries[0]));
    all.push_back(key_tensor(of_keys[0], &KeyTile::key));
    all.push_back(key_tensor({"dv", 0, dense_.problem.head_dim_v}, &KeyTile::value));
    for (std::size_t rope = 1; rope < of_queries.size(); ++rope) {
      all.push_back(query_tensor(of_queries[rope]));
      all.push_back(key_tensor(of_keys[rope], &KeyTile::key));
    }
    return all;
  }

 private:
  /// Creates the tiles of every kv head (b, kv).
  void make_tiles() {
    const Op::Problem& p = dense_.problem;
    const auto heads = at(p.batch * p.heads_kv);
    queries_.resize(heads), keys_.resize(heads);
    double pairs = 0;
    for (const Tile& tile : tiles_of(dense_.queries)) {
      QueryTile queries{tile, Sums(dense_.width()), {}, {}, {}, true};
      queries.rows.resize(at(tile.count));
      for (std::int64_t r = 0; r < tile.count; ++r) {
        const attention::FloatRow query = dense_.query(tile.b, tile.n, tile.first + r);
        const attention::FloatRow dy = dense_.dy(tile.b, tile.n, tile.first + r);
        queries.norms.push_back({std::sqrt(attention::norm_squared(query.data(), dense_.width())),
                                 std::sqrt(attention::norm_squared(dy.data(), p.head_dim_v))});
        queries.ranges.push_back(p.length_kv(tile.b) > 0
                                     ? dense_.key_pattern->range({tile.b, tile.n, tile.first + r})
                                     : reference::KeyRange{});
        pairs += static_cast<double>(std::max<std::int64_t>(queries.ranges.back().size(), 0));
      }
      queries_[at(tile.b * p.heads_kv + tile.n / p.group())].push_back(std::move(queries));
    }
    for (const Tile& tile : tiles_of(dense_.keys))
      keys_[at(tile.b * p.heads_kv + tile.n)].push_back(
          {tile, Sums(dense_.width()), Sums(p.head_dim_v), true});
    leave_out(pairs * static_cast<double>(dense_.width() + p.head_dim_v));
  }

  /// Selects every k-th tile if all tiles cost too much. A query tile needs all keys, and a key
  /// tile needs all queries, so about 2/k of the pairs are visited.
  void leave_out(double multiply_adds) {
    if (multiply_adds <= request_.multiply_adds) return;
    const auto every =
        static_cast<std::size_t>(std::ceil(2 * multiply_adds / request_.multiply_adds));
    std::size_t number = request_.seed % every;
    for (auto& head : queries_)
      for (QueryTile& tile : head) tile.wanted = number++ % every == 0;
    for (auto& head : keys_)
      for (KeyTile& tile : head) tile.wanted = number++ % every == 0;
  }

  /// Divides the work in a way that does not depend on the number of cores, so that the order of
  /// additions is always the same.
  void add_all_pairs() {
    const auto heads = std::ssize(keys_);
    const std::int64_t parts =
        std::max<std::int64_t>(1, chunks_in_all / std::max<std::int64_t>(heads, 1));
    std::vector<std::vector<KeyTile>> of_parts(at(heads * parts));
    parallel::for_each(heads * parts, [&](std::int64_t task) {
      std::vector<QueryTile>& queries = queries_[at(task / parts)];
      const auto size = std::ssize(queries);
      const std::int64_t first = task % parts * size / parts;
      const std::int64_t last = (task % parts + 1) * size / parts;
      std::vector<QueryTile> own(std::make_move_iterator(queries.begin() + first),
                                 std::make_move_iterator(queries.begin() + last));
      of_parts[at(task)] = keys_[at(task / parts)];
      add_blocks(dense_, n_, rows_, RowSigns(request_.seed), RowSigns(request_.seed + 1), own,
                 of_parts[at(task)]);
      std::move(own.begin(), own.end(), queries.begin() + first);
    });
    for (std::int64_t task = 0; task < heads * parts; ++task)
      for (std::size_t k = 0; k < of_parts[at(task)].size(); ++k) {
        KeyTile& tile = keys_[at(task / parts)][k];
        tile.key.add(of_parts[at(task)][k].key);
        tile.value.add(of_parts[at(task)][k].value);
      }
  }

  template <class TileOfSide>
  TileSums tensor(const attention::Part& part, const spec::Extents& extents, std::uint64_t seed,
                  const std::vector<std::vector<TileOfSide>>& heads,
                  std::vector<const TileOfSide*>& wanted) const {
    TileSums sums{.name = part.name, .extents = extents, .signs = RowSigns(seed)};
    sums.extents.dim = part.dim;
    for (const auto& head : heads)
      for (const TileOfSide& tile : head)
        if (tile.wanted) wanted.push_back(&tile), sums.tiles.push_back(tile.tile);
    sums.resize(wanted.size());
    sums.written_share = finisher_.written_share();
    sums.lambda = request_.averages ? azuma_factor(std::ssize(wanted) * part.dim) : 0;
    return sums;
  }

  TileSums query_tensor(const attention::Part& part) const {
    std::vector<const QueryTile*> wanted;
    TileSums sums = tensor(part, dense_.queries, request_.seed, queries_, wanted);
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      const auto& [tile, of_pairs, rows, norms, ranges, is_wanted] = *wanted[k];
      sums.exempt[k] = of_pairs.exempt ? 1 : 0;
      Extras extras = extras_of_rows(tile, rows);
      for (std::int64_t d = 0; d < part.dim; ++d) {
        extras.floor = 0;
        for (std::int64_t r = 0; r < tile.count; ++r)
          extras.floor +=
              n_.phi * floor_.dq(dense_, {tile.b, tile.n, tile.first + r}, part.first + d);
        finisher_.finish(of_pairs.of(part.first + d), extras, sums, k * at(part.dim) + at(d));
      }
    }
    return sums;
  }

  /// Returns the errors of row terms and statistics in the sums of a query tile.
  Extras extras_of_rows(const Tile& tile, const std::vector<SharedByRow>& rows) const {
    Extras extras{.terms = static_cast<double>(dense_.key_pattern->entries_of_query(tile.b)),
                  .scaled = true};
    const double scale = std::abs(dense_.scale);
    for (std::int64_t r = 0; r < tile.count; ++r) {
      const std::int64_t number = dense_.queries.row(tile.b, tile.n, tile.first + r);
      const attention::RowTerms& row = rows_.rows[at(number)];
      const SharedByRow& sums = rows[at(r)];
      extras.operands += 2 * n_.eta_k * sums.size;
      extras.heads += sums.prob > 0 ? 2 : 0;
      extras.independent += square(scale * row.delta_error.deviation * sums.prob) +
                            square(scale * row.max_error.deviation * sums.dscore);
      extras.shared +=
          scale * (row.delta_error.shared * sums.prob + row.max_error.shared * sums.dscore);
    }
    return extras;
  }

  TileSums key_tensor(const attention::Part& part, Sums KeyTile::*member) const {
    std::vector<const KeyTile*> wanted;
    TileSums sums = tensor(part, dense_.keys, request_.seed + 1, keys_, wanted);
    const bool is_value = member == &KeyTile::value;
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      const Tile& tile = wanted[k]->tile;
      const Sums& of_pairs = wanted[k]->*member;
      sums.exempt[k] = of_pairs.exempt ? 1 : 0;
      Extras extras{.terms = 0, .partials = dense_.problem.group() > 1};
      std::int64_t attended = 0;
      for (std::int64_t r = 0; r < tile.count; ++r) {
        const std::int64_t entries =
            dense_.key_pattern->entries_of_key({tile.b, tile.n, tile.first + r});
        extras.terms = std::max(extras.terms, static_cast<double>(entries));
        attended += entries > 0 ? 1 : 0;
      }
      extras.heads = static_cast<double>(attended * (dense_.problem.group() + 2));
      const double residues = n_.phi * static_cast<double>(attended);
      const std::int64_t head = tile.b * dense_.problem.heads_kv + tile.n;
      for (std::int64_t d = 0; d < part.dim; ++d) {
        const double unit = is_value ? floor_.dv[at(head * part.dim + d)]
                                     : floor_.dk[at(head * dense_.width() + part.first + d)];
        extras.floor = residues * unit;
        finisher_.finish(of_pairs.of(part.first + d), extras, sums, k * at(part.dim) + at(d));
      }
    }
    return sums;
  }

  const Dense& dense_;
  const Arithmetic& n_;
  const attention::AllRowTerms& rows_;
  TileRequest request_;
  Finisher finisher_;
  attention::Floor floor_;
  std::vector<std::vector<QueryTile>> queries_;
  std::vector<std::vector<KeyTile>> keys_;
};

}  // namespace

std::vector<TileSums> tile_sums(const Dense& dense, const Arithmetic& arithmetic,
                                const attention::AllRowTerms& rows, const TileRequest& request) {
  return TileEngine(dense, arithmetic, rows, request).sums();
}

std::vector<TileSums> tile_sums_with(
    const attention::JudgedRows& judged, const Dense& dense, const Arithmetic& arithmetic,
    const std::function<const attention::AllRowTerms&()>& row_terms, std::uint64_t seed,
    bool averages) {
  if (std::ssize(judged.query) == dense.queries.rows() &&
      std::ssize(judged.key) == dense.keys.rows())
    return {};
  return tile_sums(dense, arithmetic, row_terms(),
                   {.seed = seed, .averages = averages && attention::scores_vary(dense)});
}

}  // namespace assay::conformance::tiles
