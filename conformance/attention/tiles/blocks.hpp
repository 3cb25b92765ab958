#pragma once

#include <cstdint>
#include <vector>

#include "assay/reference/mask.hpp"
#include "attention/bound/row_terms.hpp"
#include "attention/bound/sums.hpp"
#include "attention/tiles/block_loops.hpp"
#include "judge/tile_sums.hpp"

/// Sums over blocks of pairs: the queries of one tile with the keys of another.
namespace assay::conformance::tiles {

inline constexpr std::int64_t streams = 5;

/// Five arrays with one number per channel, in the order of the members of `RowFactors`.
struct Sums {
  explicit Sums(std::int64_t width)
      : channels(width), values(attention::at(streams * width), 0.0) {}
  void add(const RowFactors& factors, const attention::FloatRow& x) {
    add_row(factors, x.data(), channels, values.data());
  }
  void add(const Sums& other) {
    for (std::size_t k = 0; k < values.size(); ++k) values[k] += other.values[k];
    exempt |= other.exempt;
  }
  RowFactors of(std::int64_t d) const {
    const auto stream = [&](std::int64_t which) {
      return values[attention::at(which * channels + d)];
    };
    return {stream(0), stream(1), stream(2), stream(3), stream(4)};
  }

  std::int64_t channels;
  std::vector<double> values;
  bool exempt = false;
};

/// The errors that all pairs of a query row share. Each of these errors is added once to the sums
/// of the tile.
struct SharedByRow {
  double prob = 0,
         dscore = 0;  ///< sums of P + e_P and of |dS|, times the largest |k_d| of the tile
  double size = 0;    ///< sum of |dS|
};

/// The Euclidean norms of one query's rows in Q and dO.
struct RowNorms {
  double query, dy;
};

struct QueryTile {
  Tile tile;
  Sums sums;
  std::vector<SharedByRow> rows;
  std::vector<RowNorms> norms;
  std::vector<reference::KeyRange> ranges;
  bool wanted;
};

struct KeyTile {
  Tile tile;
  Sums key, value;
  bool wanted;
};

/// Adds all pairs of one kv head that belong to a requested query tile or key tile. Each row is
/// multiplied by a random sign before it is added to the sum of its tile.
void add_blocks(const attention::Dense& dense, const Arithmetic& arithmetic,
                const attention::AllRowTerms& rows, const RowSigns& query_signs,
                const RowSigns& key_signs, std::vector<QueryTile>& queries,
                std::vector<KeyTile>& keys);

}  // namespace assay::conformance::tiles
